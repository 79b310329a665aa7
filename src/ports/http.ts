/** Names in lower case; a repeated header is joined with ", ". */
export type HttpHeaders = Readonly<Record<string, string>>;

/** One HTTP request as a front sees it, its body read whole (at most `Limits.maxMessageBytes`). */
export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** The query string without `?`. */
  readonly query: string;
  readonly headers: HttpHeaders;
  /** Undefined when the body is longer than the limit (`oversized`) or no UTF-8 (`not-utf8`). */
  readonly body: string | undefined;
  readonly bodyProblem: "oversized" | "not-utf8" | undefined;
}

/** A response body that is written bit by bit. After the client has gone, writes are dropped. */
export interface HttpStream {
  write(text: string): void;
  end(): void;
  /** Cuts the connection without an ordinary end. */
  destroy(): void;
  /** Bytes written that the client has not taken yet. */
  readonly backlog: number;
}

/** How a front answers. Exactly one of the two is called, once. */
export interface HttpReply {
  send(status: number, headers: HttpHeaders, body: string): void;
  /** Sends the head at once; for Server-Sent Events. */
  open(status: number, headers: HttpHeaders): HttpStream;
}

/** What a handler needs of an AbortSignal. Each of those is one; a host may have something cheaper. */
export interface Departure {
  readonly aborted: boolean;
  /** The listener is called at most once. */
  addEventListener(
    type: "abort",
    listener: () => void,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Answers HTTP requests. `gone` aborts when the connection closes before the answer is complete, whether
 * the client closed it or `destroy` did.
 */
export type HttpHandler = (request: HttpRequest, reply: HttpReply, gone: Departure) => void;

/** One HTTP request of an upstream side. */
export interface HttpCall {
  readonly method: "POST" | "GET" | "DELETE";
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body: string | undefined;
}

/**
 * `refused`: the server cannot have seen the request (no connection). `broken`: it may have.
 * `aborted`: this side gave up.
 */
export interface HttpFailure {
  readonly kind: "refused" | "broken" | "aborted";
  readonly message: string;
}

/** Takes an answer in order: `head`, any number of `data`, then `end` or `failed`; or `failed` alone. */
export interface HttpSink {
  head(status: number, headers: HttpHeaders): void;
  data(chunk: Uint8Array): void;
  end(): void;
  failed(failure: HttpFailure): void;
}

/**
 * Performs a call; returns how to abort it (`failed` with `aborted` follows). There is no time limit:
 * streams are silent for hours, and whoever calls has a clock. Redirects with 307 and 308 to the same
 * origin are followed with method, body and headers kept; others come back as they are.
 */
export type HttpExchange = (call: HttpCall, sink: HttpSink) => () => void;
