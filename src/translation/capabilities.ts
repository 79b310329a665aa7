import { canonicalText } from "../jsonrpc/canonical.js";
import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
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

/** Extensions that hold between two neighbours only. */
const HOP_BY_HOP: readonly string[] = [
  "io.modelcontextprotocol/tasks",
  "io.modelcontextprotocol/oauth-client-credentials",
  "io.modelcontextprotocol/enterprise-managed-authorization",
];

/** Removes the extensions that each hop negotiates for itself. */
export function stripHopExtensions(capabilities: Draft): void {
  const extensions = capabilities.object("extensions");
  if (extensions === undefined) return;
  for (const name of HOP_BY_HOP) extensions.remove(name);
  if (extensions.changed && extensions.keys().length === 0) capabilities.remove("extensions");
}

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
