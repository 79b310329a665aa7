import type { ParsedText } from "../../jsonrpc/message.js";
import type { HttpReply, HttpRequest } from "../../ports/http.js";
import type { Sender } from "../modern-request.js";

/** An HTTP request that passed the guards, and whose it is. */
export interface Inbound {
  readonly request: HttpRequest;
  /** The body of a POST; undefined for other methods. Never malformed. */
  readonly message: ParsedText | undefined;
  readonly sender: Sender;
  readonly reply: HttpReply;
  /** Aborts when the client has gone before the answer was complete. */
  readonly gone: AbortSignal;
}

/** Answers the requests of one era on an endpoint that both eras share. */
export type EraEndpoint = (inbound: Inbound) => void;
