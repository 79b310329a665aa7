import { createSseDecoder, type SseDecoder } from "../framing/sse.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Stop } from "../ports/clock.js";
import type { HttpCall, HttpSink } from "../ports/http.js";
import { type BodyCollector, createBodyCollector } from "./http-body.js";
import { type HttpConversation, isEventStream, isMessage, isSuccess } from "./http-conversation.js";
import { judgeRefusal } from "./http-refusal.js";

/** How long anything waits for the server to take a notification, or to confirm the end. */
const DELIVERY_MS = 2_000;
/** Of a refusal only the first sentence matters. */
const REFUSAL_BYTES = 64 * 1024;

/** Sends what has no answer: notifications and answers to reverse requests. */
export interface MessagePoster {
  post(text: JsonText): void;
  /** Resolves when the server has taken what was posted so far, or takes too long. Never rejects. */
  delivered(): Promise<void>;
  /** Delivers what is under way, then ends the session with DELETE where there is one. Never rejects. */
  farewell(): Promise<void>;
}

export interface MessagePosterOptions {
  readonly http: HttpConversation;
  /** The data of one event, where a server answers a notification with a stream. */
  text(data: string): void;
}

export function createMessagePoster({ http, text }: MessagePosterOptions): MessagePoster {
  const { clock, journal, limits, name } = http;
  /** Not yet taken by the server. */
  const underWay = new Set<Stop>();
  /** Still connected. */
  const connected = new Set<Stop>();
  let waiting: (() => void)[] = [];

  const taken = (cut: Stop): void => {
    underWay.delete(cut);
    if (underWay.size > 0) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };

  const over = (cut: Stop): void => {
    connected.delete(cut);
    taken(cut);
  };

  const refused = (status: number, body: string, sentSession: boolean): void => {
    const judged = judgeRefusal({ status, body, id: undefined, sentSession });
    const kind = "kind" in judged ? judged.kind : "rejected";
    journal.warn("message-refused", { upstream: name, kind, status });
  };

  const sinkOf = (cut: Stop): HttpSink => {
    const sentSession = http.headers.sessionId !== undefined;
    let status = 0;
    let body: BodyCollector | undefined;
    let events: SseDecoder | undefined;
    return {
      head(code, headers) {
        status = code;
        if (!isSuccess(code)) body = createBodyCollector(REFUSAL_BYTES);
        else if (isEventStream(headers)) {
          events = createSseDecoder({
            maxBytes: limits.maxMessageBytes,
            onEvent: (event) => {
              if (isMessage(event)) text(event.data);
            },
            onOversized: cut,
          });
        }
        // The head of a success says that the message was taken, whatever follows it.
        if (isSuccess(code)) taken(cut);
      },
      data(chunk) {
        events?.push(chunk);
        body?.push(chunk);
      },
      end() {
        if (body !== undefined) refused(status, body.text() ?? "", sentSession);
        over(cut);
      },
      failed(failure) {
        if (failure.kind !== "aborted" && status === 0) {
          journal.warn("message-not-delivered", { upstream: name, kind: failure.kind });
        }
        over(cut);
      },
    };
  };

  const start = (call: HttpCall, sink: (cut: Stop) => HttpSink): void => {
    let abort: Stop | undefined;
    const cut = (): void => abort?.();
    underWay.add(cut);
    connected.add(cut);
    abort = http.exchange(call, sink(cut));
  };

  const delivered = (): Promise<void> => {
    if (underWay.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = clock.after(DELIVERY_MS, resolve);
      waiting.push(() => {
        stop();
        resolve();
      });
    });
  };

  return {
    post(message) {
      const headers = http.headers.forPost();
      start({ method: "POST", url: http.url, headers, body: message }, sinkOf);
    },
    delivered,
    async farewell() {
      await delivered();
      if (http.headers.sessionId !== undefined) {
        const headers = http.headers.forDelete();
        // Servers may refuse this (405) or have forgotten the session (404): both are an end.
        start({ method: "DELETE", url: http.url, headers, body: undefined }, silentSink(over));
        await delivered();
      }
      for (const cut of [...connected]) cut();
    },
  };
}

function silentSink(over: (cut: Stop) => void): (cut: Stop) => HttpSink {
  return (cut) => ({
    head: () => undefined,
    data: () => undefined,
    end: () => over(cut),
    failed: () => over(cut),
  });
}
