import type { Draft } from "../jsonrpc/draft.js";
import { isArrayText, isObjectText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { isAtLeast, type LegacyRevision } from "../model/era.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "structured-content",
  feature: "Structured output that is no object",
  modernClient: {
    fate: "same",
    how: "A legacy server's structured output is an object already.",
  },
  legacyClient: {
    fate: "translated",
    how: 'A tool whose `outputSchema` is no object is advertised with `{"result": …}` around it and its results are wrapped alike; other values that are no object are wrapped too. Clients before 2025-06-18 get text instead.',
  },
  loss: "The value of such a tool stands one level deeper for legacy clients.",
  spec: ["2026-07-28/server/tools", "2025-11-25/server/tools"],
  about: ["structuredContent", "outputSchema"],
};

/** Revisions before this have neither `outputSchema` nor `structuredContent`. */
const SINCE: LegacyRevision = "2025-06-18";

export function knowsStructuredContent(revision: LegacyRevision): boolean {
  return isAtLeast(revision, SINCE);
}

/**
 * Fits a tool result to what was advertised: `wraps` says that the tool's schema was wrapped. Where a
 * client cannot read the structured value, a text block has it.
 *
 * @returns true when a value was wrapped that no advertised schema announced
 */
export function lowerStructuredContent(
  result: Draft,
  revision: LegacyRevision,
  wraps: boolean,
): boolean {
  const value = result.get("structuredContent");
  if (value === undefined) return false;
  if (!knowsStructuredContent(revision)) {
    result.remove("structuredContent");
    ensureText(result, value);
    return false;
  }
  if (!wraps && isObjectText(value)) return false;
  result.set("structuredContent", `{"result":${value}}`);
  ensureText(result, value);
  return !wraps;
}

function ensureText(result: Draft, value: JsonText): void {
  const content = result.get("content");
  const blocks = isArrayText(content) ? elementsOf(content) : [];
  if (blocks.some((block) => memberAt(block, "type") === '"text"')) return;
  const block = `{"type":"text","text":${quote(value)}}`;
  result.set("content", `[${[...blocks, block].join(",")}]`);
}
