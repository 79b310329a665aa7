import type {
  Channel,
  ChannelEnd,
  ChannelReceiver,
  HttpCall,
  HttpExchange,
  HttpFailure,
  HttpHeaders,
  Journal,
} from "../../src/index.js";
import type { Message } from "../../src/jsonrpc/message.js";
import type { LinkLoss, LinkReceiver } from "../../src/upstream/link.js";

/** A channel whose peer is the test. */
export interface FakeChannel extends Channel {
  /** What the peer has not read; set it to play a slow one. */
  backlog: number;
  readonly sent: readonly string[];
  readonly closes: number;
  says(...texts: readonly string[]): void;
  drops(reason: "oversized" | "not-utf8" | "binary", head: string): void;
  ends(detail: string, expected?: boolean): void;
}

export function createFakeChannel(heard: (text: string) => void = () => undefined): FakeChannel {
  const sent: string[] = [];
  let receiver: ChannelReceiver | undefined;
  let closes = 0;
  let end: ChannelEnd | undefined;
  const finish = (detail: string, expected: boolean): void => {
    if (end !== undefined) return;
    end = { detail, expected };
    receiver?.closed(end);
  };
  return {
    sent,
    backlog: 0,
    get closes() {
      return closes;
    },
    start(to) {
      receiver = to;
    },
    send(text) {
      if (end !== undefined) return;
      sent.push(text);
      heard(text);
    },
    async close() {
      closes += 1;
      finish("closed by this side", true);
    },
    says(...texts) {
      for (const text of texts) receiver?.message(text);
    },
    drops: (reason, head) => receiver?.dropped(reason, head),
    ends: (detail, expected = false) => finish(detail, expected),
  };
}

/** What a link told, in order, one line each. */
export interface Recorder extends LinkReceiver {
  readonly log: readonly string[];
}

function describeMessage(message: Message): string {
  switch (message.type) {
    case "request":
      return `request ${message.id} ${message.method}`;
    case "notification":
      return `notification ${message.method}`;
    case "response":
      return `response ${message.id} ${message.result}`;
    case "error":
      return `error ${message.id ?? "null"} ${message.error}`;
  }
}

function describeLoss(loss: LinkLoss): string {
  return loss.status === undefined ? loss.kind : `${loss.kind} ${loss.status}`;
}

export function createRecorder(): Recorder {
  const log: string[] = [];
  return {
    log,
    message(message, origin) {
      log.push(describeMessage(message) + (origin === undefined ? "" : ` @${origin}`));
    },
    lost: (id, loss) => log.push(`lost ${id} ${describeLoss(loss)}: ${loss.detail}`),
    closed: (detail) => log.push(`closed: ${detail}`),
  };
}

/** A journal that keeps `level event`, for counting. */
export function createRecordingJournal(): Journal & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const at = (level: string) => (event: string) => {
    lines.push(`${level} ${event}`);
  };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export function requestText(id: number, method: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
}

/** One HTTP call the code under test made; the test answers it step by step. */
export interface FakeCall extends HttpCall {
  readonly aborted: boolean;
  head(status: number, headers?: HttpHeaders): void;
  data(text: string): void;
  bytes(values: readonly number[]): void;
  end(): void;
  fails(kind: HttpFailure["kind"], message?: string): void;
  /** Head, body and end at once. */
  answers(status: number, body?: string, headers?: HttpHeaders): void;
  /** Head of an event stream, then these events. */
  streams(...events: readonly string[]): void;
}

export interface FakeServer {
  readonly exchange: HttpExchange;
  readonly calls: readonly FakeCall[];
  /** The nth call, which must exist; negative counts from the end. */
  call(index: number): FakeCall;
}

const JSON_TYPE: HttpHeaders = { "content-type": "application/json" };
export const SSE_TYPE: HttpHeaders = { "content-type": "text/event-stream" };

export function createFakeServer(): FakeServer {
  const calls: FakeCall[] = [];
  const encoder = new TextEncoder();
  const exchange: HttpExchange = (call, sink) => {
    let aborted = false;
    let over = false;
    const fake: FakeCall = {
      ...call,
      get aborted() {
        return aborted;
      },
      head: (status, headers = {}) => over || sink.head(status, headers),
      bytes: (values) => over || sink.data(Uint8Array.from(values)),
      data: (text) => over || sink.data(encoder.encode(text)),
      end() {
        if (over) return;
        over = true;
        sink.end();
      },
      fails(kind, message = "connection reset") {
        if (over) return;
        over = true;
        sink.failed({ kind, message });
      },
      answers(status, body = "", headers = JSON_TYPE) {
        fake.head(status, headers);
        if (body !== "") fake.data(body);
        fake.end();
      },
      streams(...events) {
        fake.head(200, SSE_TYPE);
        for (const event of events) fake.data(event);
      },
    };
    calls.push(fake);
    return () => {
      if (over) return;
      aborted = true;
      over = true;
      sink.failed({ kind: "aborted", message: "aborted" });
    };
  };
  return {
    exchange,
    calls,
    call(index) {
      const call = calls.at(index);
      if (call === undefined) throw new Error(`there is no call ${index} of ${calls.length}`);
      return call;
    },
  };
}
