import { INVALID_REQUEST, METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asNumber, asString } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Era } from "../model/era.js";
import type { Failed } from "../model/operation.js";
import { UNSUPPORTED_PROTOCOL_VERSION } from "../model/wire-error.js";

/** What servers answer who want a handshake first (2025-11-25) to a request without one. */
const SERVER_ERROR = -32000;

function refusedHandshake({ cause, error }: Failed): boolean {
  return cause === "unavailable" && asNumber(memberAt(error.text, "data", "code")) !== undefined;
}

function reasonOf({ error }: Failed): string | undefined {
  return asString(memberAt(error.text, "data", "bridge", "reason"));
}

/** Refused credentials say nothing about the server, and nothing about what others may do. */
export function isUnauthorized(failed: Failed): boolean {
  return failed.cause === "unavailable" && reasonOf(failed) === "upstream-unauthorized";
}

/**
 * May a failure mean that the server has changed its era since the verdict? Legacy: it refuses the
 * revision or the handshake. Modern: it knows no method, or wants a handshake.
 */
export function hintsAtOtherEra(era: Era, failed: Failed): boolean {
  const { code } = failed.error;
  if (era === "legacy") {
    return code === UNSUPPORTED_PROTOCOL_VERSION || refusedHandshake(failed);
  }
  const byServer = failed.cause === "peer" || failed.cause === "unknown-method";
  return byServer && [METHOD_NOT_FOUND, INVALID_REQUEST, SERVER_ERROR].includes(code);
}

/** How servers refuse what they do not serve at all. */
const REFUSALS: readonly (number | undefined)[] = [400, 404, 405];

/** Is it certain that the server did nothing for the failed operation, so that it may be sent again? */
export function isUntouched(failed: Failed): boolean {
  if (failed.cause === "unavailable") {
    const status = asNumber(memberAt(failed.error.text, "data", "status"));
    return reasonOf(failed) === "upstream-unavailable" || REFUSALS.includes(status);
  }
  return [UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND].includes(failed.error.code);
}
