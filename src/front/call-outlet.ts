import type { JsonText } from "../jsonrpc/json-text.js";

/**
 * Where everything about one request of a legacy client goes: any number of notifications and reverse
 * requests, then exactly one of `answer` and `abandon`.
 */
export interface CallOutlet {
  /** A whole notification or reverse request that belongs to the call. */
  send(text: JsonText): void;
  /** The whole response. */
  answer(text: JsonText): void;
  /** There will be no response: the client cancelled, or the session is over. */
  abandon(): void;
}
