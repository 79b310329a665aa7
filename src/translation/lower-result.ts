import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { asString, isArrayText, type JsonText } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import type { LegacyRevision } from "../model/era.js";
import { META_SERVER_INFO, META_SUBSCRIPTION_ID } from "../model/meta-keys.js";
import { type BridgeNotice, stampNotices } from "./bridge-notices.js";
import { stripCacheHints } from "./cache-hints.js";
import { lowerContent } from "./content-blocks.js";
import { dropEmptyMeta } from "./envelope.js";
import { hasObjectRoot, wrapOutputSchema } from "./output-schema.js";
import { knowsStructuredContent, lowerStructuredContent } from "./structured-content.js";

export interface LowerResultContext {
  readonly revision: LegacyRevision;
  /** The result is of a tool whose output schema was wrapped when it was advertised. */
  readonly wraps: boolean;
}

/**
 * A modern result for a legacy client: without the vocabulary only modern clients know, and with
 * nothing in it that the client's revision cannot read. Everything else keeps its characters.
 */
export function lowerResult(
  method: string,
  result: JsonText,
  { revision, wraps }: LowerResultContext,
): JsonText {
  const draft = createDraft(result);
  stripResultMarks(method, draft);
  if (method === "tools/list") lowerTools(draft, revision);
  if (method === "tools/call") lowerToolResult(draft, revision, wraps);
  if (method === "prompts/get") lowerMessages(draft, revision);
  return draft.text();
}

/** Takes out `resultType`, the cache hints and the reserved `_meta` keys of a modern result. */
export function stripResultMarks(method: string, result: Draft): void {
  result.remove("resultType");
  stripCacheHints(method, result);
  const meta = result.object("_meta");
  meta?.remove(META_SERVER_INFO);
  meta?.remove(META_SUBSCRIPTION_ID);
  dropEmptyMeta(result);
}

const REPLACED: BridgeNotice = {
  code: "content-replaced",
  message: "a content block that this revision does not know was replaced by a text",
};
const WRAPPED: BridgeNotice = {
  code: "structured-content-wrapped",
  message: "structured content that is no object stands in the member `result`",
};

function lowerToolResult(result: Draft, revision: LegacyRevision, wraps: boolean): void {
  const notices: BridgeNotice[] = [];
  if (lowerContent(result, revision)) notices.push(REPLACED);
  if (lowerStructuredContent(result, revision, wraps)) notices.push(WRAPPED);
  stampNotices(result, notices);
}

function lowerMessages(result: Draft, revision: LegacyRevision): void {
  const messages = result.get("messages");
  if (!isArrayText(messages)) return;
  let replaced = false;
  const lowered = elementsOf(messages).map((message) => {
    const draft = createDraft(message);
    replaced = lowerContent(draft, revision) || replaced;
    return draft.changed ? draft.text() : message;
  });
  if (!replaced) return;
  result.set("messages", `[${lowered.join(",")}]`);
  stampNotices(result, [REPLACED]);
}

function lowerTools(result: Draft, revision: LegacyRevision): void {
  const tools = result.get("tools");
  if (!isArrayText(tools) || !tools.includes('"outputSchema"')) return;
  const before = elementsOf(tools);
  const after = before.map((tool) => lowerTool(tool, revision));
  if (after.some((tool, index) => tool !== before[index])) {
    result.set("tools", `[${after.join(",")}]`);
  }
}

function lowerTool(tool: JsonText, revision: LegacyRevision): JsonText {
  const schema = memberOf(readObject(tool), "outputSchema");
  if (schema === undefined) return tool;
  const draft = createDraft(tool);
  if (!knowsStructuredContent(revision)) draft.remove("outputSchema");
  else if (!hasObjectRoot(schema)) draft.set("outputSchema", wrapOutputSchema(schema));
  return draft.text();
}

/** Of a modern `tools/list` result: each tool's name, and whether its output schema is wrapped. */
export function wrappedTools(result: JsonText): ReadonlyMap<string, boolean> {
  const tools = new Map<string, boolean>();
  const list = memberOf(readObject(result), "tools");
  if (!isArrayText(list)) return tools;
  for (const tool of elementsOf(list)) {
    const object = readObject(tool);
    const name = asString(memberOf(object, "name"));
    const schema = memberOf(object, "outputSchema");
    if (name !== undefined) tools.set(name, schema !== undefined && !hasObjectRoot(schema));
  }
  return tools;
}
