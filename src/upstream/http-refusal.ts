import type { Challenge } from "../errors.js";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asNumber, asString, type JsonText } from "../jsonrpc/json-text.js";
import { type ErrorMessage, parseMessage } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { LEGACY_RESOURCE_NOT_FOUND } from "../model/wire-error.js";
import type { HttpHeaders } from "../ports/http.js";
import type { LinkLoss } from "./link.js";
import { mended, requestAnswered } from "./peer-text.js";

/** What several SDKs write into the body when they do not know a session. */
const SESSION_NOT_FOUND = -32001;

/** Errors that are about the request itself and therefore say nothing about the session. */
const ABOUT_THE_REQUEST: readonly number[] = [
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  LEGACY_RESOURCE_NOT_FOUND,
];

const UNKNOWN_SESSION =
  /\bno transport found for session|\b(?:no valid|invalid|unknown|expired|no such)(?: or \w+)? (?:mcp[- ])?session|\bsession(?:[- ]?id)?\b.{0,60}?(?:not found|expired|invalid|unknown|(?:does not|doesn't) exist|no longer)/i;
const NEEDS_SESSION =
  /\bsession(?:[- ]?id)?\b.{0,60}?(?:required|missing|terminated|closed)|\bmissing (?:mcp[- ])?session|server not initialized/i;

/**
 * Does this error, answered with success status to a request that carried our session id, mean that
 * the server does not know the session? Only what servers are known to send counts, for a request that
 * is taken for refused is sent once more.
 */
export function isSessionError(error: JsonText): boolean {
  const code = asNumber(memberAt(error, "code"));
  if (code !== SESSION_NOT_FOUND && code !== INVALID_REQUEST) return false;
  return UNKNOWN_SESSION.test(asString(memberAt(error, "message")) ?? "");
}

/** An HTTP answer with another status than success. */
export interface HttpRefusal {
  readonly status: number;
  readonly body: string;
  /** Undefined for a notification or an answer of ours. */
  readonly id: number | undefined;
  /** The refused request carried our session id. */
  readonly sentSession: boolean;
  readonly challenge?: Challenge | undefined;
}

/**
 * How a server refused the credentials of a client; undefined for any other answer, and where the
 * credentials are not the client's. What no header field may hold is made harmless.
 */
export function challengeIn(
  { relaysChallenges }: { readonly relaysChallenges?: boolean | undefined },
  status: number,
  headers: HttpHeaders,
): Challenge | undefined {
  if (relaysChallenges !== true || (status !== 401 && status !== 403)) return undefined;
  const field = headers["www-authenticate"];
  return { status, authenticate: field?.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?") };
}

/**
 * What a refusal means: the server's own error for this request, or a loss. A 404 on our session id
 * ends the session (2025-11-25/basic/transports, "Session Management"), unless its body is an error
 * about the request; servers say the same with other statuses and a sentence about the session.
 */
export function judgeRefusal(refusal: HttpRefusal): ErrorMessage | LinkLoss {
  const { status, body, id, challenge } = refusal;
  const parsed = parseMessage(body);
  const message = parsed.type === "error" ? parsed : undefined;
  if (refusal.sentSession && meansSessionGone(refusal, message)) {
    return { kind: "session-gone", status, detail: "the server does not know the session" };
  }
  if (status === 401 || status === 403) {
    const detail = "the server refused the credentials";
    return challenge === undefined
      ? { kind: "unauthorized", status, detail }
      : { kind: "unauthorized", status, detail, challenge };
  }
  const ours =
    id !== undefined && requestAnswered(message?.id, new Map([[id, true]])) !== undefined;
  if (message !== undefined && ours) return { ...mended(message), id: String(id) };
  return { kind: "rejected", status, detail: `the server answered with HTTP status ${status}` };
}

function meansSessionGone(
  { status, body, id }: HttpRefusal,
  message: ErrorMessage | undefined,
): boolean {
  const named = message !== undefined && message.id === String(id);
  const code = asNumber(memberAt(message?.error, "code")) ?? 0;
  if (named && ABOUT_THE_REQUEST.includes(code)) return false;
  if (status === 404) return true;
  const said = asString(memberAt(message?.error, "message")) ?? body;
  // Past 500 the request may have been at work: only a plain word that it never was counts.
  if (status >= 500) return !named && UNKNOWN_SESSION.test(said);
  return UNKNOWN_SESSION.test(said) || NEEDS_SESSION.test(said);
}
