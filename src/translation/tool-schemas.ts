import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { isArrayText, type JsonText } from "../jsonrpc/json-text.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { parameterHeadersOf, withoutParameterHeaders } from "./parameter-headers.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "tool-schemas",
  feature: "Tool definitions",
  modernClient: {
    fate: "translated",
    how: "Carried as they are; `execution`, which the modern revision does not know, is taken out and obeyed by the bridge.",
  },
  legacyClient: {
    fate: "translated",
    how: "Carried; an `outputSchema` whose root is no object is wrapped as `{result: …}`, as are the results of that tool.",
  },
  loss: "none",
  spec: ["2026-07-28/server/tools", "2025-11-25/server/tools"],
  about: ["tools/list", "execution", "inputSchema", "outputSchema"],
};

function liftTool(tool: JsonText): JsonText {
  if (!tool.includes('"execution"') && !tool.includes('"x-mcp-header"')) return tool;
  const draft = createDraft(tool);
  draft.remove("execution");
  const schema = draft.get("inputSchema");
  if (schema !== undefined && !parameterHeadersOf(schema).valid) {
    draft.set("inputSchema", withoutParameterHeaders(schema));
  }
  return draft.text();
}

/** Tools of a legacy list in the modern vocabulary; other lists and other results stay. */
export function liftTools(method: string, result: Draft): void {
  if (method !== "tools/list") return;
  const tools = result.get("tools");
  if (!isArrayText(tools)) return;
  const before = elementsOf(tools);
  const after = before.map(liftTool);
  if (after.some((tool, index) => tool !== before[index]))
    result.set("tools", `[${after.join(",")}]`);
}

/** The modern revision requires `content`; some legacy servers leave it out beside structured content. */
export function ensureContent(method: string, result: Draft): void {
  if (method === "tools/call" && result.get("content") === undefined) result.set("content", "[]");
}
