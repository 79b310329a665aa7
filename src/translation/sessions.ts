import type { BridgeNotice } from "./bridge-notices.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "sessions",
  feature: "Sessions",
  modernClient: {
    fate: "answered-here",
    how: 'Upstream sessions are opened and kept by the bridge, per principal, capabilities and client; `_meta["io.erabridge/session"]` or the header `Erabridge-Session` separates conversations. A lost session is opened anew and the refused request sent once more.',
  },
  legacyClient: {
    fate: "answered-here",
    how: "The bridge is the session: `Mcp-Session-Id` is sealed, bound to the principal and good at every replica that has the key.",
  },
  loss: "Conversations of one user share what a legacy server keeps in its session. When that was lost, the next result says `session-reset`.",
  spec: ["2025-11-25/basic/transports", "2026-07-28/basic"],
  about: ["Mcp-Session-Id", "session", "Erabridge-Session", "io.erabridge/session"],
};

/** For the first result after an upstream session was lost. */
export const SESSION_RESET: BridgeNotice = {
  code: "session-reset",
  message: "The server's session was lost and opened anew; what the server kept in it is gone.",
};
