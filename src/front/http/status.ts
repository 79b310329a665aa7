import type { Failed } from "../../model/operation.js";
import {
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  UNSUPPORTED_PROTOCOL_VERSION,
} from "../../model/wire-error.js";

/** Codes that HTTP clients expect with 400, whoever wrote them (2026-07-28/basic, "Error Codes"). */
const BAD_REQUEST: readonly number[] = [
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  UNSUPPORTED_PROTOCOL_VERSION,
];

/** The status of an error answer that is not yet under way as a stream. A server's own errors are 200. */
export function statusOf({ error, cause, challenge }: Failed): number {
  if (challenge !== undefined) return challenge.status;
  if (BAD_REQUEST.includes(error.code)) return 400;
  switch (cause) {
    case "peer":
      return 200;
    case "unknown-method":
      return 404;
    case "refused":
      return 400;
    case "unavailable":
    case "cancelled":
    case "overloaded":
      return 503;
    case "timeout":
      return 504;
  }
}
