import { BridgeError, type BridgeErrorCode } from "../errors.js";
import { INTERNAL_ERROR, INVALID_PARAMS } from "../jsonrpc/error-codes.js";
import type { Failed, FailureCause } from "./operation.js";
import { type WireError, wireError } from "./wire-error.js";

const CAUSE: Record<BridgeErrorCode, FailureCause> = {
  "upstream-unavailable": "unavailable",
  "upstream-lost": "unavailable",
  "upstream-timeout": "timeout",
  "upstream-invalid": "unavailable",
  "upstream-unauthorized": "unavailable",
  "not-bridgeable": "unavailable",
  overloaded: "overloaded",
  "request-refused": "refused",
  cancelled: "cancelled",
  closed: "unavailable",
};

/** An error answer of the server, where a call cannot return an outcome (`describe`, `watch`). */
export class PeerError extends Error {
  override readonly name = "PeerError";
  readonly error: WireError;

  constructor(error: WireError) {
    super(`the server answered with error ${error.code}`);
    this.error = error;
  }
}

/**
 * Any error as a failed outcome. The bridge's own get -32603 (-32602 where the request is at fault)
 * and `data: {bridge: {reason}}`, so that nobody takes them for the server's.
 */
export function toFailed(error: unknown): Failed {
  if (error instanceof PeerError) return { type: "failed", error: error.error, cause: "peer" };
  if (error instanceof BridgeError) {
    const code = error.code === "request-refused" ? INVALID_PARAMS : INTERNAL_ERROR;
    const data = { reason: error.code, ...error.data, bridge: { reason: error.code } };
    const failed: Failed = {
      type: "failed",
      error: wireError(code, error.message, data),
      cause: CAUSE[error.code],
    };
    return error.challenge === undefined ? failed : { ...failed, challenge: error.challenge };
  }
  return {
    type: "failed",
    error: wireError(INTERNAL_ERROR, "internal error of the bridge", {
      bridge: { reason: "internal" },
    }),
    cause: "unavailable",
  };
}
