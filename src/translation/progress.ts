import { createDraft, type Draft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "progress",
  feature: "Progress",
  modernClient: {
    fate: "translated",
    how: "Tokens are minted anew towards the server and written back with their JSON type; progress goes only to the response stream of its own request. While a call is parked the newest value is kept.",
  },
  legacyClient: {
    fate: "translated",
    how: "The same; values that do not increase are dropped, since each round of a modern call may start at zero again.",
  },
  loss: "While a call is parked only the newest value survives.",
  spec: ["2026-07-28/basic/patterns/progress", "2025-11-25/basic/utilities/progress"],
  about: ["progressToken", "notifications/progress"],
};

/** Gives a request the token of the next hop, or none. */
export function remintToken(params: Draft, token: number | undefined): void {
  if (token !== undefined) params.ensureObject("_meta").set("progressToken", `${token}`);
  else params.object("_meta")?.remove("progressToken");
}

/** Progress params without their token: the middle knows the request, not the token. */
export function withoutToken(params: JsonText | undefined): JsonText {
  const draft = createDraft(params);
  draft.remove("progressToken");
  return draft.text();
}
