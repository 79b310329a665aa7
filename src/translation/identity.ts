import type { Draft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { META_SERVER_INFO } from "../model/meta-keys.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "identity",
  feature: "`clientInfo` and `serverInfo`",
  modernClient: {
    fate: "translated",
    how: "The client's `clientInfo` goes into the upstream `initialize`; the server's `serverInfo` is stamped into the `_meta` of every result. The bridge never takes the place of either.",
  },
  legacyClient: {
    fate: "translated",
    how: "`clientInfo` of the handshake is repeated on every request; `serverInfo` comes from discover, or is synthesized from the upstream's name.",
  },
  loss: "none",
  spec: ["2026-07-28/basic", "2025-11-25/basic/lifecycle"],
  about: ["clientInfo", "serverInfo"],
};

/** An identity that the server wrote itself wins. */
export function stampServerInfo(result: Draft, serverInfo: JsonText | undefined): void {
  if (serverInfo === undefined) return;
  const meta = result.ensureObject("_meta");
  if (meta.get(META_SERVER_INFO) === undefined) meta.set(META_SERVER_INFO, serverInfo);
}
