import { createSseDecoder, type SseDecoder } from "../framing/sse.js";
import type { Stop } from "../ports/clock.js";
import type { HttpHeaders } from "../ports/http.js";
import {
  dataOf,
  type HttpConversation,
  isEventStream,
  isMessage,
  isPassing,
  isSuccess,
  resumePause,
} from "./http-conversation.js";

/** How long the opening of the stream may hold back the first requests. */
const OPENING_MS = 1_000;

export interface ListeningStream {
  /** True from the first time the stream stood until it is known to be gone. */
  readonly present: boolean;
  /** Resolves when the stream stands, is known to be absent, or takes too long to say. */
  open(): Promise<void>;
  close(): void;
}

export interface ListeningStreamOptions {
  readonly http: HttpConversation;
  /** The data of one message event. */
  text(data: string): void;
  /** The head of a message that was longer than the limit. */
  dropped(head: string): void;
  /** The stream stood before and is now refused: the session may be gone. */
  refusedLater(status: number): void;
}

/**
 * The stream for messages outside requests: opened by GET, opened again whenever it ends, without noise
 * and with the last event id (2025-11-25/basic/transports, "Listening for Messages from the Server").
 */
export function createListeningStream(options: ListeningStreamOptions): ListeningStream {
  const { http } = options;
  const { clock, limits } = http;
  let cut: Stop | undefined;
  let stopTimer: Stop | undefined;
  let present = false;
  let closed = false;
  let settled: (() => void) | undefined;
  let lastEventId = "";
  let retryMs: number | undefined;
  let attempt = 0;

  const absent = (status: number): void => {
    const stood = present;
    present = false;
    closed = true;
    http.journal.debug("listening-absent", { upstream: http.name, status });
    settled?.();
    cut?.();
    if (stood) options.refusedLater(status);
  };

  const again = (): void => {
    if (closed) return;
    settled?.();
    if (!present && attempt >= limits.maxResumeAttempts) {
      absent(0);
      return;
    }
    stopTimer = clock.after(resumePause(limits, attempt, retryMs), connect);
    attempt += 1;
  };

  const decoder = (): SseDecoder =>
    createSseDecoder({
      maxBytes: limits.maxMessageBytes,
      onEvent(event) {
        if (event.id !== undefined) lastEventId = event.id;
        attempt = 0;
        if (isMessage(event)) options.text(event.data);
      },
      onRetry(ms) {
        retryMs = ms;
      },
      onOversized(head) {
        options.dropped(dataOf(head));
      },
    });

  function connect(): void {
    let events: SseDecoder | undefined;
    let openedAt = 0;
    let over = false;
    const ended = (): void => {
      if (over) return;
      over = true;
      if (events !== undefined && events.lastEventId !== "") lastEventId = events.lastEventId;
      // A stream that stood for long and ended was idle, not refused.
      if (events !== undefined && clock.now() - openedAt >= limits.resumePauseMaxMs) attempt = 0;
      again();
    };
    cut = http.exchange(
      { method: "GET", url: http.url, headers: http.headers.forGet(lastEventId), body: undefined },
      {
        head(status: number, headers: HttpHeaders) {
          if (closed) return;
          if (isSuccess(status) && isEventStream(headers)) {
            events = decoder();
            openedAt = clock.now();
            present = true;
            http.journal.debug("listening", { upstream: http.name });
            settled?.();
          } else if (isPassing(status)) settled?.();
          else absent(status);
        },
        data: (chunk) => events?.push(chunk),
        end: ended,
        failed: ended,
      },
    );
  }

  return {
    get present() {
      return present;
    },
    open() {
      return new Promise((resolve) => {
        const stop = clock.after(OPENING_MS, resolve);
        settled = () => {
          settled = undefined;
          stop();
          resolve();
        };
        connect();
      });
    },
    close() {
      closed = true;
      present = false;
      settled?.();
      stopTimer?.();
      cut?.();
    },
  };
}
