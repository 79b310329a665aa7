import type { JsonText } from "../jsonrpc/json-text.js";
import type { Failed } from "../model/operation.js";

/**
 * Where the frames of one modern request go: any number of notices, then exactly one of `result` and
 * `failed`. After the request was cancelled, all are dropped.
 */
export interface ModernReply {
  /** One pipe carries the frames of all requests; false where the request has a stream of its own. */
  readonly shared: boolean;
  /** A whole notification. */
  notice(text: JsonText): void;
  /** A whole response with a result. */
  result(text: JsonText): void;
  /** A whole response with an error; why it failed decides an HTTP status. */
  failed(text: JsonText, failed: Failed): void;
}
