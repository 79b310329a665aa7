import type { Challenge } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Message } from "../jsonrpc/message.js";
import type { HttpHeaders } from "../ports/http.js";

/** A request of ours; ids start at 1, for some peers test ids for truth. */
export interface LinkRequest {
  readonly id: number;
  readonly method: string;
  /** The whole message. */
  readonly text: JsonText;
  /** Headers that mirror the body, where the link is HTTP and the era has them. */
  readonly headers?: HttpHeaders;
}

/**
 * Why no answer to a request can come any more.
 *
 * - `not-sent`: the server cannot have seen it (no connection, child not running).
 * - `session-gone`: the server refused it because it does not know our session; not processed.
 * - `unauthorized`: refused for its credentials (401, 403).
 * - `rejected`: refused with an HTTP status and no usable answer; `status` has it.
 * - `broken`: the answer was lost; the operation may have completed.
 * - `invalid`: the answer is no legal message.
 */
export interface LinkLoss {
  readonly kind: "not-sent" | "session-gone" | "unauthorized" | "rejected" | "broken" | "invalid";
  readonly detail: string;
  readonly status?: number;
  /** Of an `unauthorized`, where it is the client's own credentials that were refused. */
  readonly challenge?: Challenge | undefined;
}

export interface LinkReceiver {
  /**
   * A message of the server. `origin` is the id of our request on whose own answer stream it came;
   * undefined where the link does not tell (one pipe for all, the GET stream).
   */
  message(message: Message, origin: number | undefined): void;
  /** Called at most once for a request, and never after its answer. */
  lost(id: number, loss: LinkLoss): void;
  /** The whole conversation is over; every open request was reported lost before. The last call. */
  closed(detail: string): void;
}

/** One conversation with a server in messages, whatever carries it. */
export interface Link {
  /** True where messages that belong to a request come with its id as origin. */
  readonly associates: boolean;
  /** True while the server can send messages that belong to no request. */
  readonly listens: boolean;
  /** Starts delivery; called once, before anything is sent. */
  start(receiver: LinkReceiver): void;
  request(request: LinkRequest): void;
  /** Sends a notification or an answer to a reverse request; `headers` as those of a request. */
  send(text: JsonText, headers?: HttpHeaders): void;
  /**
   * Tells the server, in the way of its era and transport, that nobody wants the answer any more.
   * `words`: the whole notification, where the client has made one and the transport sends one.
   */
  cancel(id: number, reason: string, words?: JsonText): void;
  /**
   * The handshake is complete: from now on messages carry the revision, and the stream for messages
   * outside requests is opened. Resolves when that stream stands or is known to be absent.
   */
  established(revision: string): Promise<void>;
  /** Ends the conversation politely (DELETE, end of input) and resolves when nothing is left. */
  close(): Promise<void>;
}
