import type {
  HttpExchange,
  HttpFailure,
  HttpHandler,
  HttpHeaders,
  HttpRequest,
  HttpSink,
} from "../../src/index.js";

export interface HttpLoopOptions {
  /** Longest request body the handler gets to see; without a limit when absent. */
  readonly maxBodyBytes?: number | undefined;
  /** Added to every request, as a proxy or a client library would. */
  readonly headers?: HttpHeaders | undefined;
}

/**
 * Calls an HTTP handler in this process instead of a server over the network. Answers arrive in
 * later microtasks, never inside the call. A handler that throws is a broken exchange.
 */
export function createHttpLoop(handler: HttpHandler, options: HttpLoopOptions = {}): HttpExchange {
  return (call, sink) => {
    const gone = new AbortController();
    const answer = createAnswer(sink, () => gone.abort());
    const url = new URL(call.url);
    const headers: Record<string, string> = { host: url.host, ...options.headers };
    for (const [name, value] of Object.entries(call.headers)) headers[name.toLowerCase()] = value;
    const request: HttpRequest = {
      method: call.method,
      path: url.pathname,
      query: url.search.slice(1),
      headers,
      ...toBody(call.body ?? "", options.maxBodyBytes ?? Number.POSITIVE_INFINITY),
    };
    queueMicrotask(() => {
      if (gone.signal.aborted) return;
      try {
        handler(request, answer.reply, gone.signal);
      } catch (error) {
        answer.fail({ kind: "broken", message: `the handler failed: ${String(error)}` });
      }
    });
    return () => {
      if (!answer.fail({ kind: "aborted", message: "aborted by this side" })) return;
      gone.abort();
    };
  };
}

function toBody(text: string, maxBytes: number): Pick<HttpRequest, "body" | "bodyProblem"> {
  return Buffer.byteLength(text) > maxBytes
    ? { body: undefined, bodyProblem: "oversized" }
    : { body: text, bodyProblem: undefined };
}

function createAnswer(sink: HttpSink, cut: () => void) {
  const encoder = new TextEncoder();
  let over = false;
  let backlog = 0;
  const finish = (last: () => void): boolean => {
    if (over) return false;
    over = true;
    last();
    return true;
  };
  const later = (step: () => void): void =>
    queueMicrotask(() => {
      if (!over) step();
    });
  const write = (text: string): void => {
    if (text === "") return;
    backlog += text.length;
    later(() => {
      backlog -= text.length;
      sink.data(encoder.encode(text));
    });
  };
  const end = (): void => later(() => finish(() => sink.end()));

  return {
    /** False when the answer was over before. */
    fail: (failure: HttpFailure): boolean => finish(() => sink.failed(failure)),
    reply: {
      send(status: number, headers: HttpHeaders, body: string): void {
        later(() => sink.head(status, headers));
        write(body);
        end();
      },
      open(status: number, headers: HttpHeaders) {
        later(() => sink.head(status, headers));
        return {
          write,
          end,
          destroy: () =>
            later(() =>
              finish(() => {
                cut();
                sink.failed({ kind: "broken", message: "the server cut the connection" });
              }),
            ),
          get backlog() {
            return backlog;
          },
        };
      },
    },
  };
}
