import type { Challenge } from "../errors.js";
import { createSseDecoder, type SseDecoder } from "../framing/sse.js";
import { asString } from "../jsonrpc/json-text.js";
import {
  type ErrorMessage,
  type NotificationMessage,
  parseMessage,
  type RequestMessage,
  type ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Stop } from "../ports/clock.js";
import type { HttpCall, HttpHeaders } from "../ports/http.js";
import { type BodyCollector, createBodyCollector, decodeLenient } from "./http-body.js";
import {
  dataOf,
  type HttpConversation,
  isEventStream,
  isMessage,
  isPassing,
  isSuccess,
  resumePause,
} from "./http-conversation.js";
import { challengeIn, isSessionError, judgeRefusal } from "./http-refusal.js";
import type { LinkLoss, LinkRequest } from "./link.js";
import { readPeerText, requestInHead } from "./peer-text.js";
import { readPlainEvent } from "./plain-event.js";

/** How long a stream may stay open when nothing is expected of it any more. */
const LINGER_MS = 1_000;

/** Takes what becomes of requests; `id` is the request's. */
export interface AnswerReceiver {
  /** A request or notification of the server on this request's own stream. */
  call(id: number, message: RequestMessage | NotificationMessage): void;
  answer(id: number, message: ResponseMessage | ErrorMessage): void;
  lost(id: number, loss: LinkLoss): void;
  /** The server accepted the request without answering on it; true where another stream may answer. */
  elsewhere(): boolean;
  /** Nothing is open any more; the last call. */
  over(id: number): void;
}

/** One request and its answer, over as many connections as that takes. */
export interface AnswerExchange {
  readonly http: HttpConversation;
  readonly request: LinkRequest;
  readonly receiver: AnswerReceiver;
  readonly sentSession: boolean;
  /** Neither answered nor lost nor forsaken. */
  waiting: boolean;
  /** Nothing is open any more. */
  over: boolean;
  /** Cuts the present connection. */
  cut: Stop | undefined;
  stopTimer: Stop | undefined;
  lastEventId: string;
  retryMs: number | undefined;
  /** Attempts to resume since the last event. */
  attempt: number;
  /** Something came that should have been the answer and was not. */
  damage: string | undefined;
}

/** The POST, or a GET that takes up the stream. */
interface Connection {
  readonly resumed: boolean;
  status: number;
  challenge: Challenge | undefined;
  body: BodyCollector | undefined;
  isStream: boolean;
  /** Undefined until a chunk comes that needs it. */
  events: SseDecoder | undefined;
  ended: boolean;
}

// Functions over plain records, for this runs for every request and closures would be most of its cost.

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
  const exchange: AnswerExchange = {
    http,
    request,
    receiver,
    sentSession: http.headers.sessionId !== undefined,
    waiting: true,
    over: false,
    cut: undefined,
    stopTimer: undefined,
    lastEventId: "",
    retryMs: undefined,
    attempt: 0,
    damage: undefined,
  };
  const headers = http.headers.forPost();
  connect(exchange, false, {
    method: "POST",
    url: http.url,
    headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
    body: request.text,
  });
  return exchange;
}

/** Nobody waits any more: neither `answer` nor `lost` follows, and what is open ends shortly. */
export function forsake(exchange: AnswerExchange): void {
  exchange.waiting = false;
  linger(exchange);
}

/** As `forsake`, at once. */
export function abort(exchange: AnswerExchange): void {
  exchange.waiting = false;
  cutNow(exchange);
}

function finish(exchange: AnswerExchange): void {
  if (exchange.over) return;
  exchange.over = true;
  exchange.stopTimer?.();
  exchange.receiver.over(exchange.request.id);
}

function cutNow(exchange: AnswerExchange): void {
  finish(exchange);
  exchange.cut?.();
}

function linger(exchange: AnswerExchange): void {
  if (exchange.over) return;
  exchange.stopTimer ??= exchange.http.clock.after(LINGER_MS, () => cutNow(exchange));
}

function lose(exchange: AnswerExchange, loss: LinkLoss): void {
  if (!exchange.waiting) return;
  exchange.waiting = false;
  exchange.receiver.lost(exchange.request.id, loss);
}

function loseOversized(exchange: AnswerExchange): void {
  const detail = "the answer is longer than the limit for one message";
  lose(exchange, { kind: "invalid", detail });
  cutNow(exchange);
}

function answer(
  exchange: AnswerExchange,
  message: ResponseMessage | ErrorMessage,
  resumed: boolean,
): void {
  const { request, receiver, http } = exchange;
  if (!exchange.waiting) return;
  exchange.waiting = false;
  if (
    message.type === "error" &&
    exchange.sentSession &&
    !resumed &&
    isSessionError(message.error)
  ) {
    const detail = "the server does not know the session";
    receiver.lost(request.id, { kind: "session-gone", detail });
    return;
  }
  if (message.type === "response" && request.method === "initialize") {
    const revision = asString(memberAt(message.result, "protocolVersion"));
    if (revision !== undefined) http.headers.adoptRevision(revision);
  }
  receiver.answer(request.id, message);
}

function take(exchange: AnswerExchange, text: string, resumed: boolean): void {
  const { id } = exchange.request;
  const message = parseMessage(text);
  if (message.type === "request" || message.type === "notification") {
    exchange.receiver.call(id, message);
  } else if (message.type === "response" && message.id === String(id)) {
    answer(exchange, message, resumed);
  } else {
    takeWithCare(exchange, text, resumed);
  }
}

function takeWithCare(exchange: AnswerExchange, text: string, resumed: boolean): void {
  const { id } = exchange.request;
  readPeerText(text, ownId(exchange), {
    call: (message) => exchange.receiver.call(id, message),
    answer: (_, message) => answer(exchange, message, resumed),
    spoiled: (_, detail) => lose(exchange, { kind: "invalid", detail }),
    stray() {
      exchange.damage ??= "the answer is for another request";
    },
    noise(reason) {
      exchange.damage ??= reason;
    },
  });
}

function ownId({ waiting, request }: AnswerExchange): ReadonlyMap<number, true> {
  return new Map(waiting ? [[request.id, true]] : []);
}

function takeEvent(
  exchange: AnswerExchange,
  data: string,
  id: string | undefined,
  resumed: boolean,
): void {
  if (id !== undefined) exchange.lastEventId = id;
  exchange.attempt = 0;
  if (data !== "") take(exchange, data, resumed);
}

function openEvents(exchange: AnswerExchange, resumed: boolean): SseDecoder {
  return createSseDecoder({
    maxBytes: exchange.http.limits.maxMessageBytes,
    onEvent(event) {
      takeEvent(exchange, isMessage(event) ? event.data : "", event.id, resumed);
    },
    onRetry(ms) {
      exchange.retryMs = ms;
    },
    onOversized(head) {
      if (requestInHead(dataOf(head), ownId(exchange)) !== undefined) loseOversized(exchange);
    },
  });
}

function takeChunk(exchange: AnswerExchange, connection: Connection, chunk: Uint8Array): void {
  const { resumed } = connection;
  const plain =
    connection.events === undefined && chunk.length <= exchange.http.limits.maxMessageBytes
      ? readPlainEvent(chunk, decodeLenient)
      : undefined;
  if (plain !== undefined) takeEvent(exchange, plain.data, plain.id, resumed);
  else {
    connection.events ??= openEvents(exchange, resumed);
    connection.events.push(chunk);
  }
  if (!exchange.waiting) linger(exchange);
}

function streamEnded(exchange: AnswerExchange, why: string): void {
  const { limits, clock } = exchange.http;
  if (!exchange.waiting) finish(exchange);
  else if (exchange.lastEventId !== "" && exchange.attempt < limits.maxResumeAttempts) {
    const pause = resumePause(limits, exchange.attempt, exchange.retryMs);
    exchange.stopTimer = clock.after(pause, () => resume(exchange));
    exchange.attempt += 1;
  } else {
    if (exchange.damage !== undefined) lose(exchange, { kind: "invalid", detail: exchange.damage });
    else lose(exchange, { kind: "broken", detail: why });
    finish(exchange);
  }
}

function resume(exchange: AnswerExchange): void {
  const { url, headers } = exchange.http;
  exchange.stopTimer = undefined;
  const call = { url, headers: headers.forGet(exchange.lastEventId), body: undefined };
  connect(exchange, true, { ...call, method: "GET" });
}

function headOfPost(exchange: AnswerExchange, connection: Connection, headers: HttpHeaders): void {
  const { http, request, receiver } = exchange;
  const { status } = connection;
  if (request.method === "initialize" && isSuccess(status)) adoptSession(http, headers);
  if (isSuccess(status) && isEventStream(headers)) connection.isStream = true;
  else if (status !== 202 && status !== 204) {
    connection.body = createBodyCollector(http.limits.maxMessageBytes);
    connection.challenge = challengeIn(http, status, headers);
  } else if (!receiver.elsewhere()) {
    const detail = "the request was accepted and not answered";
    lose(exchange, { kind: "invalid", status, detail });
  }
}

function headOfResumed(
  exchange: AnswerExchange,
  connection: Connection,
  headers: HttpHeaders,
): void {
  const { status } = connection;
  if (isSuccess(status) && isEventStream(headers)) {
    connection.isStream = true;
    return;
  }
  connection.ended = true;
  exchange.cut?.();
  // Whatever a refusal says, the request itself was received long ago.
  if (!isPassing(status)) exchange.lastEventId = "";
  streamEnded(exchange, `the stream of the answer could not be resumed (${status})`);
}

function bodyEnded(
  exchange: AnswerExchange,
  { status, challenge }: Connection,
  text: string | undefined,
): void {
  const { request, sentSession } = exchange;
  if (isSuccess(status)) {
    if (text === undefined) exchange.damage = "the answer is no UTF-8";
    else take(exchange, text, false);
    lose(exchange, {
      kind: "invalid",
      status,
      detail: exchange.damage ?? "the answer is no message",
    });
  } else {
    const refusal = { status, body: text ?? "", id: request.id, sentSession, challenge };
    const judged = judgeRefusal(refusal);
    if ("kind" in judged) lose(exchange, judged);
    else answer(exchange, judged, false);
  }
  finish(exchange);
}

function connectionEnded(exchange: AnswerExchange, connection: Connection): void {
  if (connection.body !== undefined) {
    bodyEnded(exchange, connection, connection.body.text());
  } else if (connection.isStream) {
    noteStand(exchange, connection);
    streamEnded(exchange, "the stream ended before the answer");
  } else finish(exchange);
}

/** Events without data move the stream on as well. */
function noteStand(exchange: AnswerExchange, { events }: Connection): void {
  if (events !== undefined && events.lastEventId !== "") exchange.lastEventId = events.lastEventId;
}

function connect(exchange: AnswerExchange, resumed: boolean, call: HttpCall): void {
  const connection: Connection = {
    resumed,
    status: 0,
    challenge: undefined,
    body: undefined,
    isStream: false,
    events: undefined,
    ended: false,
  };
  exchange.cut = exchange.http.exchange(call, {
    head(status, headers) {
      if (exchange.over) return;
      connection.status = status;
      if (resumed) headOfResumed(exchange, connection, headers);
      else headOfPost(exchange, connection, headers);
    },
    data(chunk) {
      if (exchange.over || connection.ended) return;
      if (connection.isStream) takeChunk(exchange, connection, chunk);
      else if (connection.body?.push(chunk) === false) loseOversized(exchange);
    },
    end() {
      if (exchange.over || connection.ended) return;
      connection.ended = true;
      connectionEnded(exchange, connection);
    },
    failed({ kind, message }) {
      if (exchange.over || connection.ended) return;
      connection.ended = true;
      if (resumed || connection.isStream) {
        noteStand(exchange, connection);
        streamEnded(exchange, message);
        return;
      }
      lose(exchange, { kind: kind === "refused" ? "not-sent" : "broken", detail: message });
      finish(exchange);
    },
  });
}

function adoptSession(http: HttpConversation, headers: HttpHeaders): void {
  const id = headers["mcp-session-id"];
  if (id !== undefined && !http.headers.adoptSession(id)) {
    http.journal.warn("session-id-ignored", { upstream: http.name, reason: "not visible ASCII" });
  }
}
