import { createSseDecoder, type SseDecoder } from "../framing/sse.js";
import { asString } from "../jsonrpc/json-text.js";
import type {
  ErrorMessage,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Stop } from "../ports/clock.js";
import type { HttpCall, HttpHeaders } from "../ports/http.js";
import { type BodyCollector, createBodyCollector } from "./http-body.js";
import {
  dataOf,
  type HttpConversation,
  isEventStream,
  isMessage,
  isPassing,
  isSuccess,
  resumePause,
} from "./http-conversation.js";
import { isSessionError, judgeRefusal } from "./http-refusal.js";
import type { LinkLoss, LinkRequest } from "./link.js";
import { type PeerTextSink, readPeerText, requestInHead } from "./peer-text.js";

/** How long a stream may stay open when nothing is expected of it any more. */
const LINGER_MS = 1_000;

export interface AnswerReceiver {
  /** A request or notification of the server on this request's own stream. */
  call(message: RequestMessage | NotificationMessage): void;
  answer(message: ResponseMessage | ErrorMessage): void;
  lost(loss: LinkLoss): void;
  /** The server accepted the request without answering on it; true where another stream may answer. */
  elsewhere(): boolean;
  /** Nothing is open any more; the last call. */
  over(): void;
}

export interface AnswerExchange {
  /** Nothing is open any more. */
  readonly over: boolean;
  /** Nobody waits any more: neither `answer` nor `lost` follows, and what is open ends shortly. */
  forsake(): void;
  /** As `forsake`, at once. */
  abort(): void;
}

/**
 * POSTs one request and follows its answer: a JSON text, or an event stream that is resumed by GET with
 * the last event id when it ends early (2025-11-25/basic/transports, "Resumability and Redelivery").
 * The request itself is never sent again.
 */
export function startAnswerExchange(
  http: HttpConversation,
  request: LinkRequest,
  receiver: AnswerReceiver,
): AnswerExchange {
  const { clock, limits } = http;
  const own = new Map<number, true>([[request.id, true]]);
  const sentSession = http.headers.sessionId !== undefined;
  let cut: Stop | undefined;
  let stopTimer: Stop | undefined;
  let over = false;
  let lastEventId = "";
  let retryMs: number | undefined;
  let attempt = 0;
  /** Something came that should have been the answer and was not. */
  let damage: string | undefined;

  const finish = (): void => {
    if (over) return;
    over = true;
    stopTimer?.();
    receiver.over();
  };

  const cutNow = (): void => {
    finish();
    cut?.();
  };

  const settle = (): boolean => own.delete(request.id);

  const lose = (loss: LinkLoss): void => {
    if (settle()) receiver.lost(loss);
  };

  const loseOversized = (): void => {
    lose({ kind: "invalid", detail: "the answer is longer than the limit for one message" });
    cutNow();
  };

  const linger = (): void => {
    if (!over) stopTimer ??= clock.after(LINGER_MS, cutNow);
  };

  const answer = (message: ResponseMessage | ErrorMessage, resumed: boolean): void => {
    settle();
    if (message.type === "error" && sentSession && !resumed && isSessionError(message.error)) {
      receiver.lost({ kind: "session-gone", detail: "the server does not know the session" });
      return;
    }
    if (message.type === "response" && request.method === "initialize") {
      const revision = asString(memberAt(message.result, "protocolVersion"));
      if (revision !== undefined) http.headers.adoptRevision(revision);
    }
    receiver.answer(message);
  };

  const noteStand = (events: SseDecoder): void => {
    if (events.lastEventId !== "") lastEventId = events.lastEventId;
  };

  const streamEnded = (why: string): void => {
    if (own.size === 0) finish();
    else if (lastEventId !== "" && attempt < limits.maxResumeAttempts) {
      stopTimer = clock.after(resumePause(limits, attempt, retryMs), resume);
      attempt += 1;
    } else {
      if (damage !== undefined) lose({ kind: "invalid", detail: damage });
      else lose({ kind: "broken", detail: why });
      finish();
    }
  };

  const refused = (status: number, body: string): void => {
    const judged = judgeRefusal({ status, body, id: request.id, sentSession });
    if ("kind" in judged) lose(judged);
    else answer(judged, false);
  };

  /** One connection: the POST, or a GET that takes up the stream. */
  const connect = (call: HttpCall, resumed: boolean): void => {
    let status = 0;
    let body: BodyCollector | undefined;
    let events: SseDecoder | undefined;
    let ended = false;

    const texts: PeerTextSink = {
      call: (message) => receiver.call(message),
      answer: (_, message) => answer(message, resumed),
      spoiled: (_, reason) => lose({ kind: "invalid", detail: reason }),
      stray() {
        damage ??= "the answer is for another request";
      },
      noise(reason) {
        damage ??= reason;
      },
    };

    const openEvents = (): void => {
      events = createSseDecoder({
        maxBytes: limits.maxMessageBytes,
        onEvent(event) {
          if (event.id !== undefined) lastEventId = event.id;
          attempt = 0;
          if (isMessage(event)) readPeerText(event.data, own, texts);
        },
        onRetry(ms) {
          retryMs = ms;
        },
        onOversized(head) {
          if (requestInHead(dataOf(head), own) !== undefined) loseOversized();
        },
      });
    };

    const headOfPost = (headers: HttpHeaders): void => {
      if (request.method === "initialize" && isSuccess(status)) adoptSession(http, headers);
      if (isSuccess(status) && isEventStream(headers)) openEvents();
      else if (status !== 202 && status !== 204) body = createBodyCollector(limits.maxMessageBytes);
      else if (!receiver.elsewhere()) {
        lose({ kind: "invalid", status, detail: "the request was accepted and not answered" });
      }
    };

    const headOfResumed = (headers: HttpHeaders): void => {
      if (isSuccess(status) && isEventStream(headers)) {
        openEvents();
        return;
      }
      ended = true;
      cut?.();
      // Whatever a refusal says, the request itself was received long ago.
      if (!isPassing(status)) lastEventId = "";
      streamEnded(`the stream of the answer could not be resumed (${status})`);
    };

    const bodyEnded = (text: string | undefined): void => {
      if (!isSuccess(status)) refused(status, text ?? "");
      else {
        if (text === undefined) damage = "the answer is no UTF-8";
        else readPeerText(text, own, texts);
        lose({ kind: "invalid", status, detail: damage ?? "the answer is no message" });
      }
      finish();
    };

    cut = http.exchange(call, {
      head(code, headers) {
        if (over) return;
        status = code;
        if (resumed) headOfResumed(headers);
        else headOfPost(headers);
      },
      data(chunk) {
        if (over || ended) return;
        if (events !== undefined) {
          events.push(chunk);
          if (own.size === 0) linger();
        } else if (body?.push(chunk) === false) loseOversized();
      },
      end() {
        if (over || ended) return;
        ended = true;
        if (body !== undefined) bodyEnded(body.text());
        else if (events !== undefined) {
          noteStand(events);
          streamEnded("the stream ended before the answer");
        } else finish();
      },
      failed({ kind, message }) {
        if (over || ended) return;
        ended = true;
        if (events !== undefined) noteStand(events);
        if (resumed || events !== undefined) streamEnded(message);
        else {
          if (kind === "refused") lose({ kind: "not-sent", detail: message });
          else lose({ kind: "broken", detail: message });
          finish();
        }
      },
    });
  };

  function resume(): void {
    stopTimer = undefined;
    const headers = http.headers.forGet(lastEventId);
    connect({ method: "GET", url: http.url, headers, body: undefined }, true);
  }

  const headers = http.headers.forPost();
  connect(
    {
      method: "POST",
      url: http.url,
      headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
      body: request.text,
    },
    false,
  );

  return {
    get over() {
      return over;
    },
    forsake() {
      settle();
      linger();
    },
    abort() {
      settle();
      cutNow();
    },
  };
}

function adoptSession(http: HttpConversation, headers: HttpHeaders): void {
  const id = headers["mcp-session-id"];
  if (id !== undefined && !http.headers.adoptSession(id)) {
    http.journal.warn("session-id-ignored", { upstream: http.name, reason: "not visible ASCII" });
  }
}
