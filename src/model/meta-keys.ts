/** Reserved `_meta` keys of revision 2026-07-28 (2026-07-28/basic, "_meta"). */
export const META_PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
export const META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
export const META_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
export const META_LOG_LEVEL = "io.modelcontextprotocol/logLevel";
export const META_SERVER_INFO = "io.modelcontextprotocol/serverInfo";
export const META_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** The envelope: what a modern request says of itself, and a legacy one says in its handshake. */
export const ENVELOPE_KEYS: readonly string[] = [
  META_PROTOCOL_VERSION,
  META_CLIENT_INFO,
  META_CLIENT_CAPABILITIES,
  META_LOG_LEVEL,
];

/** Reserved by 2025-11-25 for messages that belong to a task (2025-11-25/basic/utilities/tasks). */
export const META_RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Names the key under which a legacy reverse request becomes an input request, and back. */
export const META_INPUT_KEY = "io.erabridge/input-key";
/** On a result: what the bridge lost or guessed, a list of `{code, message}`. */
export const META_NOTICES = "io.erabridge/notices";
/** On a request: which of the caller's conversations it belongs to. */
export const META_SESSION = "io.erabridge/session";
