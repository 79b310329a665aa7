import type { Challenge } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { errorText, type RequestMessage } from "../jsonrpc/message.js";
import type { Failed } from "../model/operation.js";
import { lowerError } from "../translation/lower-error.js";

/**
 * Where everything about one request of a legacy client goes: any number of notifications and reverse
 * requests, then exactly one of `answer` and `abandon`.
 */
export interface CallOutlet {
  /** A whole notification or reverse request that belongs to the call. */
  send(text: JsonText): void;
  /** The whole response; `challenge` where it is an error because the server refused the credentials. */
  answer(text: JsonText, challenge?: Challenge): void;
  /** There will be no response: the client cancelled, or the session is over. */
  abandon(): void;
}

/** Answers a request of a legacy client with a failure. */
export function answerFailed({ id }: RequestMessage, outlet: CallOutlet, failed: Failed): void {
  outlet.answer(errorText(id, lowerError(failed.error).text), failed.challenge);
}
