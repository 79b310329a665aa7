import { INTERNAL_ERROR, METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asNumber, asString, type JsonText } from "../jsonrpc/json-text.js";
import {
  callText,
  errorText,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  resultText,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { isInputMethod } from "../model/input-request.js";
import { PROGRESS } from "../model/notice.js";
import { createTurnoverMap } from "../model/turnover.js";
import { type WireError, wireError } from "../model/wire-error.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { CANCELLED } from "../translation/cancellation.js";
import type { Deadlines } from "./deadlines.js";
import type { Exchange, ExchangeLoss, ExchangeTaker } from "./exchange.js";
import type { Link } from "./link.js";

/** What a server says by itself. `origin`: on which request's own answer stream, where the link tells. */
export interface ConversationEvents {
  /** One of the three reverse requests; ping and unknown ones are answered before. */
  asked(message: RequestMessage, origin: number | undefined): void;
  /** Any notification but progress. */
  told(message: NotificationMessage, origin: number | undefined): void;
  /** The last call; every open exchange was lost before. */
  ended(detail: string): void;
}

export interface RequestTimes {
  /** Without an answer or progress for this long the exchange is lost. */
  readonly timeoutMs: number;
  /** The same whatever progress says. */
  readonly ceilingMs: number;
}

/** JSON-RPC with one legacy server over one link: ids, who waits for what, and the answers due at once. */
export interface LegacyConversation {
  readonly link: Link;
  readonly name: string;
  /**
   * Sends a request. `params` gets the id, which is also this exchange's progress token: unique on
   * the session and of a kind that every server takes.
   */
  request(
    method: string,
    params: (id: number) => JsonText | undefined,
    taker: ExchangeTaker,
    times?: RequestTimes,
  ): Exchange;
  /** Gives up an exchange: the server is told, its taker hears nothing more. */
  cancel(exchange: Exchange, reason: string): void;
  /** Stops the clock of an exchange while the server waits for us. */
  pause(exchange: Exchange): void;
  resume(exchange: Exchange): void;
  /** Progress may name an exchange that is answered, where its work goes on; ends the listening. */
  follow(exchange: Exchange, progressed: (params: JsonText) => void): Stop;
  answer(id: RequestId, result: JsonText): void;
  refuse(id: RequestId, error: WireError): void;
  notify(method: string, params: JsonText | undefined): void;
  /** Exchanges that wait for an answer. */
  readonly size: number;
  /** Answers that came so far, errors included. */
  readonly answers: number;
}

interface OpenExchange extends Exchange {
  readonly taker: ExchangeTaker;
  readonly times: RequestTimes;
  ceilingAt: number;
  pausedAt: number | undefined;
}

export interface LegacyConversationOptions {
  readonly link: Link;
  readonly name: string;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly journal: Journal;
  readonly times: RequestTimes;
  /** Reverse requests that may wait for their answers. */
  readonly maxAsked: number;
  readonly events: ConversationEvents;
}

/** Starts the link. */
export function createLegacyConversation(options: LegacyConversationOptions): LegacyConversation {
  const { link, name, clock, deadlines, journal, events } = options;
  const open = createTurnoverMap<number, OpenExchange>();
  const followed = new Map<number, (params: JsonText) => void>();
  /** Reverse requests that wait for their answers. */
  const waiting = new Set<RequestId>();
  // Some peers test ids for truth, so they start at 1.
  let lastId = 0;
  let answers = 0;

  const lose = (exchange: OpenExchange, loss: ExchangeLoss): void => {
    if (!open.delete(exchange.id)) return;
    deadlines.forget(exchange);
    exchange.taker.lost(loss);
  };

  const expire = (exchange: OpenExchange): void => {
    const seconds = Math.round(exchange.times.timeoutMs / 1_000);
    link.cancel(exchange.id, "timeout");
    journal.warn("request-timed-out", { upstream: name, method: exchange.method });
    lose(exchange, { kind: "timeout", detail: `${exchange.method}, ${seconds} s` });
  };

  const progress = (params: JsonText | undefined): void => {
    const text = memberAt(params, "progressToken");
    const token = asNumber(text) ?? Number(asString(text) ?? Number.NaN);
    const exchange = open.get(token);
    const taker = exchange?.taker.progressed ?? followed.get(token);
    if (params === undefined || taker === undefined) {
      journal.debug("progress-dropped", { upstream: name });
      return;
    }
    if (exchange !== undefined && exchange.pausedAt === undefined) {
      exchange.dueAt = Math.min(clock.now() + exchange.times.timeoutMs, exchange.ceilingAt);
    }
    taker(params);
  };

  const refuse = (id: RequestId, error: WireError): void => {
    waiting.delete(id);
    link.send(errorText(id, error.text));
  };

  const put = (message: RequestMessage, origin: number | undefined): void => {
    if (waiting.size >= options.maxAsked) {
      journal.warn("too-many-questions", { upstream: name });
      refuse(message.id, wireError(INTERNAL_ERROR, "too many requests wait for their answers"));
      return;
    }
    waiting.add(message.id);
    events.asked(message, origin);
  };

  const told = (message: NotificationMessage, origin: number | undefined): void => {
    if (message.method === CANCELLED) waiting.delete(memberAt(message.params, "requestId") ?? "");
    events.told(message, origin);
  };

  const asked = (message: RequestMessage, origin: number | undefined): void => {
    if (message.method === "ping") link.send(resultText(message.id, "{}"));
    else if (isInputMethod(message.method)) put(message, origin);
    else {
      journal.info("reverse-request-refused", { upstream: name, method: message.method });
      refuse(message.id, wireError(METHOD_NOT_FOUND, "method not found"));
    }
  };

  const message = (message: Message, origin: number | undefined): void => {
    switch (message.type) {
      case "request":
        asked(message, origin);
        return;
      case "notification":
        if (message.method === PROGRESS) progress(message.params);
        else told(message, origin);
        return;
      case "response":
      case "error": {
        const exchange = open.get(Number(message.id));
        if (exchange === undefined || !open.delete(exchange.id)) {
          journal.debug("late-answer-dropped", { upstream: name });
          return;
        }
        deadlines.forget(exchange);
        answers += 1;
        exchange.taker.answered(message);
        return;
      }
    }
  };

  link.start({
    message,
    lost(id, loss) {
      const exchange = open.get(id);
      if (exchange !== undefined) lose(exchange, loss);
    },
    closed(detail) {
      for (const exchange of [...open.values()]) lose(exchange, { kind: "broken", detail });
      events.ended(detail);
    },
  });

  return {
    link,
    name,
    request(method, params, taker, times = options.times) {
      const id = ++lastId;
      const now = clock.now();
      const exchange: OpenExchange = {
        id,
        method,
        taker,
        times,
        dueAt: now + Math.min(times.timeoutMs, times.ceilingMs),
        ceilingAt: now + times.ceilingMs,
        pausedAt: undefined,
        expire: () => expire(exchange),
      };
      open.set(id, exchange);
      deadlines.watch(exchange);
      link.request({ id, method, text: callText(String(id), method, params(id)) });
      return exchange;
    },
    cancel({ id }, reason) {
      const exchange = open.get(id);
      if (exchange === undefined) return;
      open.delete(id);
      deadlines.forget(exchange);
      link.cancel(id, reason);
    },
    pause({ id }) {
      const exchange = open.get(id);
      if (exchange === undefined || exchange.pausedAt !== undefined) return;
      exchange.pausedAt = clock.now();
      exchange.dueAt = Number.POSITIVE_INFINITY;
    },
    resume({ id }) {
      const exchange = open.get(id);
      if (exchange?.pausedAt === undefined) return;
      const now = clock.now();
      exchange.ceilingAt += now - exchange.pausedAt;
      exchange.pausedAt = undefined;
      exchange.dueAt = Math.min(now + exchange.times.timeoutMs, exchange.ceilingAt);
      deadlines.watch(exchange);
    },
    follow({ id }, progressed) {
      followed.set(id, progressed);
      return () => {
        followed.delete(id);
      };
    },
    answer(id, result) {
      waiting.delete(id);
      link.send(resultText(id, result));
    },
    refuse,
    notify: (method, params) => link.send(callText(undefined, method, params)),
    get size() {
      return open.size;
    },
    get answers() {
      return answers;
    },
  };
}

/** One request of the bridge's own, as a promise of its result. */
export function askServer(
  conversation: LegacyConversation,
  method: string,
  params: JsonText | undefined,
  times?: RequestTimes,
): Promise<Answer> {
  return new Promise((resolve) => {
    conversation.request(
      method,
      () => params,
      {
        answered: (message) =>
          resolve(
            message.type === "response"
              ? { type: "result", result: message.result }
              : { type: "error", error: toWireError(message.error) },
          ),
        lost: (loss) => resolve({ type: "lost", loss }),
      },
      times,
    );
  });
}

/** How a request of the bridge's own ended. */
export type Answer =
  | { readonly type: "result"; readonly result: JsonText }
  | { readonly type: "error"; readonly error: WireError }
  | { readonly type: "lost"; readonly loss: ExchangeLoss };

/** Reads the error object of a message. */
export function toWireError(text: JsonText): WireError {
  return { code: asNumber(memberAt(text, "code")) ?? 0, text };
}
