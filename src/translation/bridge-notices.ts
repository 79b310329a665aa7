import type { Draft } from "../jsonrpc/draft.js";
import { isArrayText, toJsonText } from "../jsonrpc/json-text.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { META_NOTICES } from "../model/meta-keys.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "bridge-notices",
  feature: "What the bridge lost or guessed",
  modernClient: {
    fate: "answered-here",
    how: 'A result may carry `_meta["io.erabridge/notices"]`, a list of `{code, message}`: `session-reset`, `attribution-uncertain`, `input-not-available` and the like.',
  },
  legacyClient: {
    fate: "answered-here",
    how: "The same list stands in the `_meta` of the result.",
  },
  loss: "none",
  spec: ["2026-07-28/basic"],
  about: ["io.erabridge/notices"],
};

/** One thing a caller should know about how its call crossed. */
export interface BridgeNotice {
  /** From a small vocabulary, kebab-case. */
  readonly code: string;
  readonly message: string;
}

/** Appends to notices that another bridge on the way may have left. */
export function stampNotices(result: Draft, notices: readonly BridgeNotice[]): void {
  if (notices.length === 0) return;
  const meta = result.ensureObject("_meta");
  const present = meta.get(META_NOTICES);
  const kept = isArrayText(present) ? elementsOf(present) : [];
  meta.set(META_NOTICES, `[${[...kept, ...notices.map(toJsonText)].join(",")}]`);
}
