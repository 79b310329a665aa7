import {
  CallToolResultSchema,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
  ReadResourceResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { Reply } from "./client.js";

const SCHEMAS = new Map<string, { safeParse(value: unknown): { readonly success: boolean } }>([
  ["tools/list", ListToolsResultSchema],
  ["prompts/list", ListPromptsResultSchema],
  ["resources/list", ListResourcesResultSchema],
  ["resources/templates/list", ListResourceTemplatesResultSchema],
  ["tools/call", CallToolResultSchema],
  ["prompts/get", GetPromptResultSchema],
  ["resources/read", ReadResourceResultSchema],
]);

/** Would the official client of the legacy revisions refuse this result, had it asked directly? */
export function isRefusedDirectly(method: string, reply: Reply): boolean {
  const schema = SCHEMAS.get(method);
  return "result" in reply && schema !== undefined && !schema.safeParse(reply.result).success;
}
