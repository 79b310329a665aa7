import { createDraft } from "../jsonrpc/draft.js";
import { asString, isArrayText, isObjectText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import type { LegacyRevision } from "../model/era.js";
import { isAtLeast } from "../model/era.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "sampling",
  feature: "Sampling",
  modernClient: {
    fate: "translated",
    how: "Carried, tools included. An answer with several content blocks is joined for servers before 2025-11-25.",
  },
  legacyClient: {
    fate: "translated",
    how: "Carried; tools only to clients that declared them; lists of content blocks become one message each for clients before 2025-11-25.",
  },
  loss: "A modern client has no way to refuse: a question that stays unanswered ends after two minutes.",
  spec: ["2026-07-28/client/sampling", "2025-11-25/client/sampling"],
  about: ["sampling", "sampling/createMessage"],
};

function needsTools(params: JsonText | undefined): boolean {
  return memberAt(params, "tools") !== undefined || memberAt(params, "toolChoice") !== undefined;
}

/** Did the client declare sampling, and tools where the request has them? */
export function coversSampling(capabilities: JsonText, params: JsonText | undefined): boolean {
  const declared = memberAt(capabilities, "sampling");
  if (!isObjectText(declared)) return false;
  return !needsTools(params) || isObjectText(memberAt(declared, "tools"));
}

/** The capability a client lacks for such a question. */
export function samplingCapability(params: JsonText | undefined): JsonText {
  return needsTools(params) ? '{"sampling":{"tools":{}}}' : '{"sampling":{}}';
}

/**
 * A sampling answer for a server of the revision. Servers before 2025-11-25 take one block: text
 * blocks are joined; undefined when the blocks cannot be one.
 */
export function lowerSamplingAnswer(
  answer: JsonText,
  revision: LegacyRevision,
): JsonText | undefined {
  if (isAtLeast(revision, "2025-11-25")) return answer;
  const draft = createDraft(answer);
  const content = draft.get("content");
  if (!isArrayText(content)) return answer;
  const blocks = elementsOf(content);
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined) draft.set("content", only);
  else {
    const texts = blocks.map((block) =>
      memberAt(block, "type") === '"text"' ? asString(memberAt(block, "text")) : undefined,
    );
    if (texts.length === 0 || texts.includes(undefined)) return undefined;
    draft.set("content", `{"type":"text","text":${quote(texts.join("\n"))}}`);
  }
  return draft.text();
}
