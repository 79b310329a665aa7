import type { HttpHandler, HttpHeaders, HttpReply, HttpRequest } from "../../src/index.js";

/** What a handler wrote to one request, as it stands. */
export interface RecordedReply {
  /** Undefined until the head is written. */
  status: number | undefined;
  headers: HttpHeaders;
  body: string;
  /** The head was sent before the end was known. */
  streamed: boolean;
  /** The response is complete. */
  ended: boolean;
  /** The handler cut the connection. */
  destroyed: boolean;
  /** What the client has not read; set it to play a slow one. */
  backlog: number;
  /** The client goes away. */
  leave(): void;
}

/** Hands a request to a handler the way an HTTP server does, without one. */
export function ask(handler: HttpHandler, request: Partial<HttpRequest>): RecordedReply {
  const gone = new AbortController();
  let heads = 0;
  const recorded: RecordedReply = {
    status: undefined,
    headers: {},
    body: "",
    streamed: false,
    ended: false,
    destroyed: false,
    backlog: 0,
    leave: () => gone.abort(),
  };
  const head = (status: number, headers: HttpHeaders): void => {
    heads += 1;
    if (heads > 1) throw new Error("a second head was written");
    recorded.status = status;
    recorded.headers = headers;
  };
  const isOver = (): boolean => recorded.ended || recorded.destroyed || gone.signal.aborted;
  const reply: HttpReply = {
    send: (status, headers, body) => {
      head(status, headers);
      recorded.body = body;
      recorded.ended = true;
    },
    open: (status, headers) => {
      head(status, headers);
      recorded.streamed = true;
      return {
        write: (text) => {
          if (isOver()) throw new Error(`a write after the end: ${text}`);
          recorded.body += text;
        },
        end: () => {
          recorded.ended = true;
        },
        destroy: () => {
          recorded.destroyed = true;
          gone.abort();
        },
        get backlog() {
          return recorded.backlog;
        },
      };
    },
  };
  const whole: HttpRequest = {
    method: "POST",
    path: "/mcp",
    query: "",
    headers: {},
    body: "",
    bodyProblem: undefined,
    ...request,
  };
  handler(whole, reply, gone.signal);
  return recorded;
}
