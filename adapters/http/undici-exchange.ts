import { Agent, type Dispatcher } from "undici";
import type {
  HttpCall,
  HttpExchange,
  HttpFailure,
  HttpHeaders,
  HttpSink,
} from "../../src/index.js";

export interface UndiciExchangeOptions {
  /** Instead of an agent of its own: a proxy agent, or one with other certificates. It is not closed here. */
  readonly dispatcher?: Dispatcher | undefined;
}

export interface UndiciExchange {
  readonly exchange: HttpExchange;
  /** Ends every call as aborted and closes the connections. */
  close(): Promise<void>;
}

/** A server that does not even accept a connection is not there. */
const CONNECT_TIMEOUT_MS = 10_000;
/** A longer chain is a loop. */
const MAX_REDIRECTS = 5;

/**
 * Performs HTTP calls over connections that are kept and reused. It sets no time limit on an answer,
 * and asks for no compression, which would hold events back.
 */
export function createUndiciExchange(options: UndiciExchangeOptions = {}): UndiciExchange {
  const own = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  const dispatcher = options.dispatcher ?? own;
  const open = createPlaces<() => void>();
  const deps = { dispatcher, locate: createLocator(), toFields: createFields(), open };
  return {
    exchange: (call, sink) => perform(deps, call, sink),
    async close() {
      for (const abort of open.all()) abort();
      await own.destroy();
    },
  };
}

/** Things that come and go with every call. */
interface Places<T> {
  occupy(value: T): number;
  vacate(place: number): void;
  all(): readonly T[];
}

/** A Set that turns over this fast would keep its past alive: V8 promotes the tables it leaves behind. */
function createPlaces<T>(): Places<T> {
  const places: (T | undefined)[] = [];
  const vacant: number[] = [];
  return {
    occupy(value) {
      const place = vacant.pop() ?? places.length;
      places[place] = value;
      return place;
    },
    vacate(place) {
      places[place] = undefined;
      vacant.push(place);
    },
    all: () => places.filter((value) => value !== undefined),
  };
}

/** A URL as a dispatcher wants it. */
interface Location {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
}

/** Locates absolute URLs. Calls mostly go where the last one went, and parsing costs. */
function createLocator(): (url: string) => Location | undefined {
  let last: Location | undefined;
  return (url) => {
    if (last?.url === url) return last;
    if (!URL.canParse(url)) return undefined;
    const { origin, pathname, search } = new URL(url);
    last = { url, origin, path: pathname + search };
    return last;
  };
}

/** The fields to send, as a flat list. Calls mostly have the very headers of the last one. */
function createFields(): (headers: HttpHeaders) => string[] {
  let last: HttpHeaders | undefined;
  let fields: string[] = [];
  return (headers) => {
    if (last !== headers) {
      const { "accept-encoding": encoding = "identity", ...others } = headers;
      last = headers;
      fields = ["accept-encoding", encoding, ...Object.entries(others).flat()];
    }
    return fields;
  };
}

interface ExchangeDeps {
  readonly dispatcher: Dispatcher;
  readonly locate: (url: string) => Location | undefined;
  readonly toFields: (headers: HttpHeaders) => string[];
  /** How to end each call that is under way. */
  readonly open: Places<() => void>;
}

function perform(
  { dispatcher, locate, toFields, open }: ExchangeDeps,
  call: HttpCall,
  sink: HttpSink,
): () => void {
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;
  let redirects = 0;

  const finish = (): boolean => {
    if (over) return false;
    over = true;
    open.vacate(place);
    return true;
  };
  const fail = (failure: HttpFailure): void => {
    if (finish()) sink.failed(failure);
  };
  const abort = (): void => {
    fail({ kind: "aborted", message: "aborted by this side" });
    controller?.abort(new Error("aborted by this side"));
  };

  const dispatch = (location: Location): void => {
    // Once the request is being written, the server may have seen it.
    let written = false;
    let target: Location | undefined;
    dispatcher.dispatch(
      {
        origin: location.origin,
        path: location.path,
        method: call.method,
        headers: toFields(call.headers),
        body: call.body ?? null,
      },
      {
        onRequestStart(started) {
          written = true;
          controller = started;
          if (over) started.abort(new Error("aborted by this side"));
        },
        onResponseStart(_controller, status, headers) {
          if (over || status < 200) return;
          target = redirects < MAX_REDIRECTS ? redirected(location, status, headers) : undefined;
          if (target === undefined) sink.head(status, joinHeaders(headers));
        },
        onResponseData(_controller, chunk) {
          if (!over && target === undefined) sink.data(chunk);
        },
        onResponseEnd() {
          if (over) return;
          if (target === undefined) {
            if (finish()) sink.end();
            return;
          }
          redirects += 1;
          dispatch(target);
        },
        onResponseError(_controller, error) {
          const failure: HttpFailure = {
            kind: written ? "broken" : "refused",
            message: describe(error),
          };
          // The dispatcher reports an impossible request before it returns.
          if (written) fail(failure);
          else queueMicrotask(() => fail(failure));
        },
      },
    );
  };

  const place = open.occupy(abort);
  const first = locate(call.url);
  if (first === undefined) queueMicrotask(() => fail({ kind: "refused", message: "not a URL" }));
  else dispatch(first);
  return abort;
}

/** Where a redirect that keeps the method leads, if it stays with the origin credentials are meant for. */
function redirected(
  from: Location,
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Location | undefined {
  const target = headers["location"];
  if (status !== 307 && status !== 308) return undefined;
  if (typeof target !== "string" || !URL.canParse(target, from.url)) return undefined;
  const { href, origin, pathname, search } = new URL(target, from.url);
  return origin === from.origin ? { url: href, origin, path: pathname + search } : undefined;
}

function joinHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): HttpHeaders {
  for (const name in headers) if (typeof headers[name] !== "string") return joinRepeated(headers);
  return headers as HttpHeaders;
}

function joinRepeated(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): HttpHeaders {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "string") joined[name] = value;
    else if (value !== undefined) joined[name] = value.join(", ");
  }
  return joined;
}

/** The system's code says more than undici's wording, and an AggregateError has no message at all. */
function describe(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof AggregateError) {
    return [...new Set(error.errors.map((each: Error) => each.message))].join("; ");
  }
  return code === undefined || error.message.includes(code)
    ? error.message
    : `${error.message} (${code})`;
}
