import { callText } from "../jsonrpc/message.js";
import type { Limits } from "../model/limits.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Clock } from "../ports/clock.js";
import type { HttpExchange, HttpHeaders } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import { CANCELLED, cancelledParams } from "../translation/cancellation.js";
import {
  type AnswerExchange,
  type AnswerReceiver,
  abort,
  forsake,
  startAnswerExchange,
} from "./answer-exchange.js";
import type { HttpConversation } from "./http-conversation.js";
import { createLegacyHttpHeaders } from "./legacy-http-headers.js";
import type { Link, LinkReceiver, LinkRequest } from "./link.js";
import { createListeningStream } from "./listening-stream.js";
import { createMessagePoster } from "./message-poster.js";
import { type PeerTextSink, readPeerText, requestInHead } from "./peer-text.js";

export interface LegacyHttpLinkOptions {
  readonly url: string;
  /** The server's name, for the journal. */
  readonly name: string;
  readonly exchange: HttpExchange;
  /** What the operator adds; asked for every message, and cheap when it returns the same object. */
  readonly headers: () => HttpHeaders;
  /** As `HttpTarget.relaysChallenges`. */
  readonly relaysChallenges?: boolean | undefined;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly journal: Journal;
}

/** A ping of the link's own; sessions count their ids up from 1 and never come here. */
const PING_ID = 2_147_483_646;

/**
 * A conversation over Streamable HTTP as revisions 2025-03-26 to 2025-11-25 have it. The session id and
 * the revision are taken from the answer to `initialize`, so `send` may follow it before `established`.
 * No request is ever sent twice. A request made after the end is reported `not-sent`.
 */
export function createLegacyHttpLink(options: LegacyHttpLinkOptions): Link {
  const { name, journal } = options;
  const http: HttpConversation = { ...options, headers: createLegacyHttpHeaders(options.headers) };
  const open = createTurnoverMap<number, LinkRequest>();
  const exchanges = createTurnoverMap<number, AnswerExchange>();
  let receiver: LinkReceiver | undefined;
  let ended: string | undefined;
  let whenOver: (() => void) | undefined;

  const lose = (id: number, loss: Parameters<LinkReceiver["lost"]>[1]): void => {
    if (open.delete(id)) receiver?.lost(id, loss);
  };

  /** What comes outside an answer's own stream: mostly calls, but answers are understood too. */
  const outside: PeerTextSink = {
    call: (message) => receiver?.message(message, undefined),
    answer(id, message) {
      open.delete(id);
      forsakeOpen(id);
      receiver?.message(message, undefined);
    },
    spoiled: (id, reason) => {
      forsakeOpen(id);
      lose(id, { kind: "invalid", detail: reason });
    },
    stray: () => journal.debug("late-answer-dropped", { upstream: name }),
    noise: (reason) => journal.debug("text-skipped", { upstream: name, reason }),
  };
  const takeOutside = (text: string): void => readPeerText(text, open, outside);

  const poster = createMessagePoster({ http, text: takeOutside });
  const listening = createListeningStream({
    http,
    text: takeOutside,
    dropped(head) {
      const id = requestInHead(head, open);
      if (id === undefined)
        journal.warn("message-dropped", { upstream: name, reason: "oversized" });
      else outside.spoiled(id, "the answer is longer than the limit for one message");
    },
    refusedLater: () => checkSession(),
  });

  const answers: AnswerReceiver = {
    call: (id, message) => receiver?.message(message, id),
    answer(id, message) {
      if (open.delete(id)) receiver?.message(message, id);
    },
    lost: lose,
    elsewhere: () => listening.present,
    over(id) {
      exchanges.delete(id);
      if (exchanges.size === 0) whenOver?.();
    },
  };

  const start = (request: LinkRequest, to: AnswerReceiver): void => {
    const exchange = startAnswerExchange(http, request, to);
    if (!exchange.over) exchanges.set(request.id, exchange);
  };

  const forsakeOpen = (id: number): void => {
    const exchange = exchanges.get(id);
    if (exchange !== undefined) forsake(exchange);
  };

  const end = (detail: string): void => {
    if (ended !== undefined) return;
    ended = detail;
    listening.close();
    for (const exchange of [...exchanges.values()]) {
      const opens = exchange.request.method === "initialize";
      // Only the answer names the session, which has to be ended at the server, too.
      if (opens && http.headers.sessionId === undefined) forsake(exchange);
      else abort(exchange);
    }
    for (const id of [...open.keys()]) {
      lose(id, { kind: "broken", detail: detail });
    }
  };

  const exchangesOver = (): Promise<void> => {
    if (exchanges.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      whenOver = resolve;
    });
  };

  /** A refused listening stream alone proves nothing, so the session is asked. */
  const checkSession = (): void => {
    const text = callText(String(PING_ID), "ping", undefined);
    start(
      { id: PING_ID, method: "ping", text },
      {
        ...answers,
        call: (_, message) => receiver?.message(message, undefined),
        answer: () => undefined,
        lost(_, { kind, detail }) {
          if (kind !== "session-gone" || ended !== undefined) return;
          end(detail);
          receiver?.closed(detail);
        },
        elsewhere: () => false,
      },
    );
  };

  return {
    associates: true,
    get listens() {
      return listening.present;
    },

    start(to) {
      receiver = to;
    },

    request(request) {
      open.set(request.id, request);
      if (ended === undefined) {
        start(request, answers);
        return;
      }
      const detail = ended;
      queueMicrotask(() => lose(request.id, { kind: "not-sent", detail }));
    },

    send(text) {
      if (ended === undefined) poster.post(text);
    },

    cancel(id, reason, words) {
      const request = open.get(id);
      if (request === undefined) return;
      open.delete(id);
      forsakeOpen(id);
      // `initialize` must not be cancelled (2025-11-25/basic/utilities/cancellation).
      if (request.method === "initialize") return;
      const params = cancelledParams(id, reason);
      poster.post(words ?? callText(undefined, CANCELLED, params));
    },

    async established(revision) {
      http.headers.adoptRevision(revision);
      await poster.delivered();
      if (ended === undefined) await listening.open();
    },

    async close() {
      const first = ended === undefined;
      end("closed by the bridge");
      if (first) {
        await exchangesOver();
        await poster.farewell();
        receiver?.closed("closed by the bridge");
      }
    },
  };
}
