import type { Challenge } from "../../errors.js";
import { INVALID_REQUEST } from "../../jsonrpc/error-codes.js";
import { errorText, type RequestId } from "../../jsonrpc/message.js";
import { type WireError, wireError } from "../../model/wire-error.js";
import type { HttpHeaders, HttpReply } from "../../ports/http.js";

/** Sends a JSON-RPC error as the whole response. */
export function sendError(
  reply: HttpReply,
  status: number,
  id: RequestId | undefined,
  error: WireError,
  headers: HttpHeaders = {},
): void {
  const all = { ...JSON_HEADERS, ...headers };
  reply.send(status, all, errorText(id, error.text));
}

/** The headers of an error answer, with the server's challenge where there is one. */
export function errorHeaders(challenge: Challenge | undefined): HttpHeaders {
  const authenticate = challenge?.authenticate;
  if (authenticate === undefined) return JSON_HEADERS;
  return { ...JSON_HEADERS, "www-authenticate": authenticate };
}

const JSON_HEADERS: HttpHeaders = { "content-type": "application/json" };

/** An error about the HTTP request itself, where no message of it could be read. */
export function refuseHttp(
  reply: HttpReply,
  status: number,
  reason: string,
  headers?: HttpHeaders,
): void {
  sendError(reply, status, undefined, wireError(INVALID_REQUEST, reason), headers);
}
