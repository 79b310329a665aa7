import type { Draft } from "../jsonrpc/draft.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "cache-hints",
  feature: "`ttlMs` and `cacheScope` on cacheable results",
  modernClient: {
    fate: "translated",
    how: 'Results of discover, the four lists and `resources/read` gain `ttlMs: 0` and `cacheScope: "private"`: a legacy server promises nothing about freshness or audience.',
  },
  legacyClient: {
    fate: "lost",
    how: "Both members are removed; a legacy client has no use for them.",
  },
  loss: "A legacy client cannot cache by `ttlMs`.",
  spec: ["2026-07-28/server/utilities/caching"],
  about: ["ttlMs", "cacheScope"],
};

const CACHEABLE: readonly string[] = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
];

/** Fills the hints the revision requires with the only values that are always true. */
export function fillCacheHints(method: string, result: Draft): void {
  if (!CACHEABLE.includes(method)) return;
  result.set("ttlMs", "0");
  result.set("cacheScope", '"private"');
}

/** Takes the hints off a result for a legacy client; other methods may have members of these names. */
export function stripCacheHints(method: string, result: Draft): void {
  if (!CACHEABLE.includes(method)) return;
  result.remove("ttlMs");
  result.remove("cacheScope");
}
