import type { HttpHeaders } from "../ports/http.js";

/** Headers that only the bridge and its HTTP client may set, whatever the operator configured. */
const COMPUTED: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin",
  "transfer-encoding",
]);
const PARAMETER = "mcp-param-";

const known = new WeakMap<HttpHeaders, HttpHeaders>();

/** What the operator configured, without what is computed; the same object for the same object. */
export function operatorHeaders(configured: HttpHeaders): HttpHeaders {
  const before = known.get(configured);
  if (before !== undefined) return before;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(configured)) {
    if (!COMPUTED.has(name) && !name.startsWith(PARAMETER)) headers[name] = value;
  }
  known.set(configured, headers);
  return headers;
}
