import { BridgeError, type Challenge } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { ErrorMessage, ResponseMessage } from "../jsonrpc/message.js";
import type { Timed } from "./deadlines.js";
import type { LinkLoss } from "./link.js";

/** Why an exchange ended without an answer. `timeout`: the bridge gave up; the rest see LinkLoss. */
export interface ExchangeLoss {
  readonly kind: LinkLoss["kind"] | "timeout";
  readonly detail: string;
  readonly status?: number;
  readonly challenge?: Challenge | undefined;
}

/** One request of ours that waits for its answer. */
export interface Exchange extends Timed {
  readonly id: number;
  readonly method: string;
}

/** Who waits for an exchange. Exactly one of `answered` and `lost` is called, once, unless it is cancelled. */
export interface ExchangeTaker {
  answered(message: ResponseMessage | ErrorMessage): void;
  lost(loss: ExchangeLoss): void;
  /** Params of a progress notification that named this exchange. */
  progressed?(params: JsonText): void;
}

/** Can the server not have processed the request, so that sending it once more is safe? */
export function isUnprocessed(loss: ExchangeLoss): boolean {
  return (
    loss.kind === "not-sent" ||
    loss.kind === "session-gone" ||
    (loss.kind === "unauthorized" && loss.status === 401)
  );
}

/** Does the loss say that the server no longer knows the session? */
export function meansSessionGone(loss: ExchangeLoss): boolean {
  return loss.kind === "session-gone" || (loss.kind === "unauthorized" && loss.status === 401);
}

/** The loss in the words of the bridge; `name` is the upstream's. */
export function toBridgeError(loss: ExchangeLoss, name: string): BridgeError {
  const data = loss.status === undefined ? {} : { status: loss.status };
  switch (loss.kind) {
    case "not-sent":
      return new BridgeError("upstream-unavailable", `${name} cannot be reached: ${loss.detail}`);
    case "session-gone":
      return new BridgeError("upstream-lost", `${name} does not keep its session: ${loss.detail}`, {
        data,
      });
    case "unauthorized":
      return new BridgeError("upstream-unauthorized", `${name} refuses the credentials`, {
        data,
        challenge: loss.challenge,
      });
    case "rejected":
      return new BridgeError("upstream-invalid", `${name} refused the request: ${loss.detail}`, {
        data,
      });
    case "broken":
      return new BridgeError(
        "upstream-lost",
        `the answer of ${name} was lost (${loss.detail}); the operation may have completed`,
        { data: { outcome: "unknown" } },
      );
    case "invalid":
      return new BridgeError(
        "upstream-invalid",
        `${name} sent no legal answer (${loss.detail}); the operation may have completed`,
        { data: { outcome: "unknown" } },
      );
    case "timeout":
      return new BridgeError("upstream-timeout", `${name} did not answer in time: ${loss.detail}`);
  }
}
