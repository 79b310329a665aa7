import type { HttpHeaders, HttpReply } from "../../ports/http.js";

/** Request headers that browser clients of either era send. */
const ALLOWED_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "mcp-method",
  "mcp-name",
  "erabridge-session",
];
const PARAMETER_HEADER = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const MAX_REFLECTED = 64;

/** Adds what a browser needs to let its page read the answer; for origins that passed the guard. */
export function withCors(reply: HttpReply, origin: string): HttpReply {
  const cors = {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "mcp-session-id, mcp-protocol-version, www-authenticate",
    vary: "Origin",
  };
  return {
    send: (status, headers, body) => reply.send(status, { ...headers, ...cors }, body),
    open: (status, headers) => reply.open(status, { ...headers, ...cors }),
  };
}

/** The answer's headers to a preflight; parameter headers are allowed by the names asked for. */
export function preflightHeaders(headers: HttpHeaders, methods: string): HttpHeaders {
  const asked = (headers["access-control-request-headers"] ?? "").toLowerCase().split(",");
  const parameters = asked.map((name) => name.trim()).filter((name) => PARAMETER_HEADER.test(name));
  return {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": [
      ...ALLOWED_HEADERS,
      ...parameters.slice(0, MAX_REFLECTED),
    ].join(", "),
    "access-control-max-age": "7200",
  };
}
