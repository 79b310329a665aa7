import { INVALID_PARAMS } from "../jsonrpc/error-codes.js";
import type { Failed } from "../model/operation.js";
import { wireError } from "../model/wire-error.js";

/** Why a retry is refused; stands in `data.reason`. */
export type StateRefusal =
  | "expired"
  | "lost"
  | "cancelled"
  | "consumed"
  | "request-mismatch"
  | "unknown";

const TEXT: Record<StateRefusal, string> = {
  expired: "the answers came too late: the call was ended; send it again without requestState",
  lost: "the call this requestState belongs to is gone and may have had effects; to try again send it without requestState",
  cancelled:
    "the previous attempt was cancelled and may have had effects; to try again send it without requestState",
  consumed: "this requestState has been used already",
  "request-mismatch": "this requestState belongs to another request",
  unknown: "requestState is not valid",
};

/** A retry that resumes nothing. The server does not hear of it. */
export function refuseState(reason: StateRefusal): Failed {
  const error = wireError(INVALID_PARAMS, TEXT[reason], { reason });
  return { type: "failed", error, cause: "refused" };
}

/** Answers the server must not get; the round they belong to can be retried. */
export function refuseAnswers(problem: string, key?: string): Failed {
  const data = { reason: "invalid-input-response", ...(key === undefined ? {} : { key }) };
  return { type: "failed", error: wireError(INVALID_PARAMS, problem, data), cause: "refused" };
}
