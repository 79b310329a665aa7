import type { Draft } from "../jsonrpc/draft.js";
import { ENVELOPE_KEYS, META_RELATED_TASK, META_SESSION } from "../model/meta-keys.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "envelope",
  feature: "Per-request `_meta` envelope: version, identity, capabilities, log level",
  modernClient: {
    fate: "translated",
    how: "The envelope is checked, used to choose the upstream session, and taken out; every other `_meta` entry goes on.",
  },
  legacyClient: {
    fate: "translated",
    how: "The envelope is written on every request from what the client said in `initialize`; values of these keys that a legacy client sends are overwritten.",
  },
  loss: "none",
  spec: ["2026-07-28/basic", "2026-07-28/basic/versioning"],
  about: ["_meta", "clientCapabilities", "protocolVersion"],
};

/** Takes out of a request's params what only the other era or the bridge itself reads. */
export function stripEnvelope(params: Draft): void {
  const meta = params.object("_meta");
  if (meta === undefined) return;
  for (const key of ENVELOPE_KEYS) meta.remove(key);
  meta.remove(META_SESSION);
  meta.remove(META_RELATED_TASK);
}

/** An empty `_meta` that only our edits left behind goes too. */
export function dropEmptyMeta(params: Draft): void {
  const meta = params.object("_meta");
  if (meta?.changed && meta.keys().length === 0) params.remove("_meta");
}
