import type { Challenge } from "../errors.js";
import { createSseDecoder, type SseDecoder } from "../framing/sse.js";
import { asString, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Limits } from "../model/limits.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { HttpExchange, HttpHeaders } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import { standardHeaders } from "../wire/modern/headers.js";
import { type BodyCollector, createBodyCollector } from "./http-body.js";
import { dataOf, isEventStream, isMessage, isSuccess } from "./http-conversation.js";
import { challengeIn, judgeRefusal } from "./http-refusal.js";
import type { Link, LinkLoss, LinkReceiver, LinkRequest } from "./link.js";
import { operatorHeaders } from "./operator-headers.js";
import { type PeerTextSink, readPeerText, requestInHead } from "./peer-text.js";

/** How long a stream may stay open behind the answer it was for. */
const LINGER_MS = 1_000;

const SENT: HttpHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

export interface ModernHttpLinkOptions {
  readonly url: string;
  /** The server's name, for the journal. */
  readonly name: string;
  readonly exchange: HttpExchange;
  /** For messages that come without headers of their own. */
  readonly headers: () => HttpHeaders;
  /** As `HttpTarget.relaysChallenges`. */
  readonly relaysChallenges?: boolean | undefined;
  readonly limits: Pick<Limits, "maxMessageBytes">;
  readonly clock: Clock;
  readonly journal: Journal;
}

/** One request on its way. */
interface Exchange {
  /** Nobody waits any more: the stream is closed, which cancels the request. */
  abort(): void;
}

/**
 * Requests over Streamable HTTP as revision 2026-07-28 has it: each is a POST with an answer of its
 * own, and closing that answer cancels it (2026-07-28/basic/transports/streamable-http). No session,
 * nothing resumed, nothing sent twice. `request` headers are complete but for the content types.
 */
export function createModernHttpLink(options: ModernHttpLinkOptions): Link {
  const { url, name, exchange, journal } = options;
  const exchanges = createTurnoverMap<number, Exchange>();
  let receiver: LinkReceiver | undefined;
  let closed = false;

  const start = (request: LinkRequest): void => {
    const { id } = request;
    const started = startExchange(options, request, {
      message: (message) => receiver?.message(message, id),
      lost: (loss) => receiver?.lost(id, loss),
      over: () => exchanges.delete(id),
    });
    if (started !== undefined) exchanges.set(id, started);
  };

  const post = (text: JsonText, given: HttpHeaders = options.headers()): void => {
    const method = asString(memberAt(text, "method")) ?? "";
    const computed = { ...standardHeaders(method, undefined), ...SENT };
    const headers = { ...operatorHeaders(given), ...computed };
    let cut: Stop | undefined;
    cut = exchange(
      { method: "POST", url, headers, body: text },
      {
        head(status) {
          if (!isSuccess(status)) journal.info("message-refused", { upstream: name, status });
          // A notification has no answer worth waiting for.
          cut?.();
        },
        data: () => undefined,
        end: () => undefined,
        failed(failure) {
          if (failure.kind === "aborted") return;
          journal.warn("message-not-delivered", { upstream: name, kind: failure.kind });
        },
      },
    );
  };

  return {
    associates: true,
    listens: false,
    start(to) {
      receiver = to;
    },
    request(request) {
      if (!closed) {
        start(request);
        return;
      }
      const loss: LinkLoss = { kind: "not-sent", detail: "closed by the bridge" };
      queueMicrotask(() => receiver?.lost(request.id, loss));
    },
    send(text, headers) {
      if (!closed) post(text, headers);
    },
    cancel(id) {
      exchanges.get(id)?.abort();
    },
    established: () => Promise.resolve(),
    async close() {
      if (closed) return;
      closed = true;
      for (const [id, open] of [...exchanges]) {
        open.abort();
        receiver?.lost(id, { kind: "broken", detail: "closed by the bridge" });
      }
      receiver?.closed("closed by the bridge");
    },
  };
}

interface ExchangeReceiver {
  message: (message: Parameters<LinkReceiver["message"]>[0]) => void;
  lost: (loss: LinkLoss) => void;
  /** Neither an answer nor a loss is still to come. */
  over: () => void;
}

/** Undefined when it was over at once. */
function startExchange(
  options: ModernHttpLinkOptions,
  request: LinkRequest,
  receiver: ExchangeReceiver,
): Exchange | undefined {
  const { url, exchange, limits, clock, name, journal } = options;
  const own = new Map([[request.id, true]]);
  let status = 0;
  let challenge: Challenge | undefined;
  let body: BodyCollector | undefined;
  let events: SseDecoder | undefined;
  let over = false;
  let stopTimer: Stop | undefined;
  let abort: Stop | undefined;
  /** Something came that should have been the answer and was not. */
  let damage: string | undefined;

  /** True for the first who settles the request. */
  const settle = (): boolean => {
    if (!own.delete(request.id)) return false;
    over = true;
    receiver.over();
    return true;
  };

  const lose = (loss: LinkLoss): void => {
    if (settle()) receiver.lost(loss);
  };

  const cut = (): void => abort?.();

  const loseOversized = (): void => {
    lose({ kind: "invalid", detail: "the answer is longer than the limit for one message" });
    cut();
  };

  const texts: PeerTextSink = {
    call(message) {
      if (message.type === "notification") receiver.message(message);
      else journal.warn("illegal-request-dropped", { upstream: name, method: message.method });
    },
    answer(_, message) {
      if (settle()) receiver.message(message);
    },
    spoiled: (_, reason) => lose({ kind: "invalid", detail: reason }),
    stray() {
      damage ??= "the answer is for another request";
    },
    noise(reason) {
      damage ??= reason;
    },
  };

  const head = (code: number, headers: HttpHeaders): void => {
    status = code;
    if (isSuccess(code) && isEventStream(headers)) {
      events = createSseDecoder({
        maxBytes: limits.maxMessageBytes,
        onEvent(event) {
          if (isMessage(event) && !over) readPeerText(event.data, own, texts);
        },
        onOversized(start) {
          if (requestInHead(dataOf(start), own) !== undefined) loseOversized();
        },
      });
    } else if (code === 202 || code === 204) {
      lose({ kind: "invalid", status, detail: "the request was accepted and not answered" });
    } else {
      body = createBodyCollector(limits.maxMessageBytes);
      challenge = challengeIn(options, code, headers);
    }
  };

  const bodyEnded = (text: string | undefined): void => {
    if (!isSuccess(status)) {
      const refusal = { status, body: text ?? "", id: request.id, sentSession: false, challenge };
      const judged = judgeRefusal(refusal);
      if ("kind" in judged) lose(judged);
      else if (settle()) receiver.message(judged);
      return;
    }
    if (text === undefined) damage = "the answer is no UTF-8";
    else readPeerText(text, own, texts);
    lose({ kind: "invalid", status, detail: damage ?? "the answer is no message" });
  };

  const ended = (why: string): void => {
    stopTimer?.();
    if (damage !== undefined) lose({ kind: "invalid", detail: damage });
    else lose({ kind: "broken", detail: why });
  };

  const headers = { ...request.headers, ...SENT };
  abort = exchange(
    { method: "POST", url, headers, body: request.text },
    {
      head,
      data(chunk) {
        if (events !== undefined) {
          events.push(chunk);
          if (over) stopTimer ??= clock.after(LINGER_MS, cut);
        } else if (body?.push(chunk) === false) loseOversized();
      },
      end() {
        if (body !== undefined) bodyEnded(body.text());
        ended("the stream ended before the answer");
      },
      failed({ kind, message }) {
        stopTimer?.();
        if (kind === "refused") lose({ kind: "not-sent", detail: message });
        else ended(message);
      },
    },
  );

  if (over) return undefined;
  return {
    abort() {
      settle();
      cut();
    },
  };
}
