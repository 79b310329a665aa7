import { canonicalText } from "../jsonrpc/canonical.js";
import { createDraft } from "../jsonrpc/draft.js";
import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { stripHopExtensions } from "./extensions.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "capabilities",
  feature: "Client capabilities",
  modernClient: {
    fate: "translated",
    how: "Declared per request, fixed per legacy session: each set of capabilities has upstream sessions of its own. `roots.listChanged` and `tasks` are not declared, since a modern client cannot keep them.",
  },
  legacyClient: {
    fate: "translated",
    how: "What the handshake declared is repeated on every request, less what the client's revision cannot do (URL elicitation and sampling tools before 2025-11-25).",
  },
  loss: "Calls with different capabilities reach different upstream sessions; a server learns of changed roots only by asking again.",
  spec: ["2026-07-28/basic", "2025-11-25/basic/lifecycle"],
  about: ["clientCapabilities", "roots", "sampling", "elicitation"],
};

/** What the bridge declares in `initialize` for a caller of these modern capabilities. */
export function toLegacyCapabilities(capabilities: JsonText): JsonText {
  const draft = createDraft(capabilities);
  draft.object("roots")?.remove("listChanged");
  draft.remove("tasks");
  stripHopExtensions(draft);
  return draft.text();
}

/** Equal for capabilities that mean the same: key order, and the short form of form elicitation. */
export function normalizeCapabilities(capabilities: JsonText): JsonText {
  const draft = createDraft(toLegacyCapabilities(capabilities));
  const elicitation = draft.object("elicitation");
  if (elicitation !== undefined && !isObjectText(elicitation.get("url")))
    elicitation.set("form", "{}");
  return canonicalText(draft.text());
}
