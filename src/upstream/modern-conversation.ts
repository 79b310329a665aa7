import { BridgeError } from "../errors.js";
import { asNumber, asString, type JsonText } from "../jsonrpc/json-text.js";
import type { ErrorMessage, NotificationMessage, ResponseMessage } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Principal } from "../model/caller.js";
import { META_SUBSCRIPTION_ID } from "../model/meta-keys.js";
import { LOG_MESSAGE, PROGRESS } from "../model/notice.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Clock } from "../ports/clock.js";
import type { HttpHeaders } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import type { Deadlines } from "./deadlines.js";
import type { Exchange, ExchangeLoss } from "./exchange.js";
import type { Link } from "./link.js";

/** Who waits for a request. Exactly one of `answered` and `lost` is called, unless it is cancelled. */
export interface ModernTaker {
  /** A notification that belongs to the request. */
  told(message: NotificationMessage): void;
  answered(message: ResponseMessage | ErrorMessage): void;
  lost(loss: ExchangeLoss): void;
}

export interface ModernRequestSpec {
  readonly method: string;
  /** The whole message for the id, which is also the progress token of the request. */
  readonly text: (id: number) => JsonText;
  readonly headers: HttpHeaders | undefined;
  /** Whose log messages the request asks for; undefined when it asks for none. */
  readonly logsFor: Principal | undefined;
  /** A subscription: it is meant to have no answer. */
  readonly standing: boolean;
}

/** JSON-RPC with one modern server: ids, who waits for what, and a link that is opened when needed. */
export interface ModernConversation {
  /** Opens the link where there is none. Rejects with BridgeError. */
  ready(): Promise<void>;
  /** Sends a request; `ready` must have resolved before. */
  request(spec: ModernRequestSpec, taker: ModernTaker): Exchange;
  /** Gives up a request: the server is told in the way of its transport, the taker hears no more. */
  cancel(exchange: Exchange, reason: string): void;
  /** Sends a notification, if there is a link. */
  send(text: JsonText, headers: HttpHeaders | undefined): void;
  /** Requests that wait for an answer, subscriptions included. */
  readonly size: number;
  close(): Promise<void>;
}

export interface ModernConversationOptions {
  readonly name: string;
  readonly openLink: () => Promise<Link>;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly journal: Journal;
  /** Without an answer or progress for this long a request is lost. */
  readonly timeoutMs: number;
  /** The same whatever progress says. */
  readonly ceilingMs: number;
}

interface OpenExchange extends Exchange {
  readonly spec: ModernRequestSpec;
  readonly taker: ModernTaker;
  readonly link: Link;
  readonly ceilingAt: number;
}

export function createModernConversation(options: ModernConversationOptions): ModernConversation {
  const { name, clock, deadlines, journal } = options;
  const open = createTurnoverMap<number, OpenExchange>();
  let opening: Promise<Link> | undefined;
  let current: Link | undefined;
  let closed = false;
  // Some peers test ids for truth, so they start at 1.
  let lastId = 0;

  const leave = (exchange: OpenExchange): boolean => {
    if (!open.delete(exchange.id)) return false;
    deadlines.forget(exchange);
    return true;
  };

  const lose = (exchange: OpenExchange, loss: ExchangeLoss): void => {
    if (leave(exchange)) exchange.taker.lost(loss);
  };

  const expire = (exchange: OpenExchange): void => {
    const seconds = Math.round(options.timeoutMs / 1_000);
    exchange.link.cancel(exchange.id, "timeout");
    journal.warn("request-timed-out", { upstream: name, method: exchange.method });
    lose(exchange, { kind: "timeout", detail: `${exchange.method}, ${seconds} s` });
  };

  const drop = (method: string): void => {
    journal.debug("notification-dropped", { upstream: name, method: method.slice(0, 128) });
  };

  /** Which request a notification belongs to; `origin` is known where each has its own stream. */
  const ownerOf = (
    { method, params }: NotificationMessage,
    origin: number | undefined,
  ): OpenExchange | undefined => {
    if (method === PROGRESS) {
      const named = open.get(idOf(memberAt(params, "progressToken")));
      return origin === undefined || named?.id === origin ? named : undefined;
    }
    if (origin !== undefined) return open.get(origin);
    if (method === "notifications/cancelled") return open.get(idOf(memberAt(params, "requestId")));
    const subscription = memberAt(params, "_meta", META_SUBSCRIPTION_ID);
    if (subscription !== undefined) return open.get(idOf(subscription));
    return method === LOG_MESSAGE ? logOwner(open.values()) : onlyCall(open.values());
  };

  const told = (message: NotificationMessage, origin: number | undefined): void => {
    const owner = ownerOf(message, origin);
    if (owner === undefined) {
      drop(message.method);
      return;
    }
    if (message.method === PROGRESS && !owner.spec.standing) {
      owner.dueAt = Math.min(clock.now() + options.timeoutMs, owner.ceilingAt);
    }
    owner.taker.told(message);
  };

  const attach = (link: Link): void => {
    link.start({
      message(message, origin) {
        if (message.type === "notification") told(message, origin);
        else if (message.type === "request") {
          journal.warn("illegal-request-dropped", { upstream: name, method: message.method });
        } else {
          const exchange = open.get(Number(message.id));
          if (exchange !== undefined && leave(exchange)) exchange.taker.answered(message);
          else journal.debug("late-answer-dropped", { upstream: name });
        }
      },
      lost(id, loss) {
        const exchange = open.get(id);
        if (exchange !== undefined) lose(exchange, loss);
      },
      closed(detail) {
        if (current === link) {
          current = undefined;
          opening = undefined;
        }
        for (const exchange of [...open.values()]) {
          if (exchange.link === link) lose(exchange, { kind: "broken", detail });
        }
      },
    });
  };

  const openLink = async (): Promise<Link> => {
    try {
      const link = await options.openLink();
      if (closed) {
        await link.close();
        throw new BridgeError("closed", "the bridge is shutting down");
      }
      current = link;
      attach(link);
      return link;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };

  return {
    async ready() {
      if (closed) throw new BridgeError("closed", "the bridge is shutting down");
      opening ??= openLink();
      await opening;
    },

    request(spec, taker) {
      const link = current;
      if (link === undefined) throw new BridgeError("upstream-lost", `${name} went away`);
      const id = ++lastId;
      const now = clock.now();
      const never = Number.POSITIVE_INFINITY;
      const exchange: OpenExchange = {
        id,
        method: spec.method,
        spec,
        taker,
        link,
        dueAt: spec.standing ? never : now + Math.min(options.timeoutMs, options.ceilingMs),
        ceilingAt: spec.standing ? never : now + options.ceilingMs,
        expire: () => expire(exchange),
      };
      open.set(id, exchange);
      if (!spec.standing) deadlines.watch(exchange);
      const { method, headers } = spec;
      const text = spec.text(id);
      link.request(headers === undefined ? { id, method, text } : { id, method, text, headers });
      return exchange;
    },

    cancel({ id }, reason) {
      const exchange = open.get(id);
      if (exchange !== undefined && leave(exchange)) exchange.link.cancel(id, reason);
    },

    send: (text, headers) => current?.send(text, headers),

    get size() {
      return open.size;
    },

    async close() {
      closed = true;
      const link = await opening?.catch(() => undefined);
      await link?.close();
      for (const exchange of [...open.values()]) {
        lose(exchange, { kind: "broken", detail: "closed by the bridge" });
      }
    },
  };
}

/** The id a token or reference stands for; servers that send it back as a string are understood. */
function idOf(text: JsonText | undefined): number {
  return asNumber(text) ?? Number(asString(text) ?? Number.NaN);
}

/**
 * On a shared pipe a log message names no request. It goes to the newest of those that asked for logs,
 * unless they are of several principals: then it could be anyone's.
 */
function logOwner(exchanges: Iterable<OpenExchange>): OpenExchange | undefined {
  let newest: OpenExchange | undefined;
  for (const exchange of exchanges) {
    const { logsFor } = exchange.spec;
    if (logsFor === undefined) continue;
    if (newest !== undefined && newest.spec.logsFor !== logsFor) return undefined;
    newest = exchange;
  }
  return newest;
}

/** What no field attributes can only belong to the one request there is. */
function onlyCall(exchanges: Iterable<OpenExchange>): OpenExchange | undefined {
  let only: OpenExchange | undefined;
  for (const exchange of exchanges) {
    if (exchange.spec.standing) continue;
    if (only !== undefined) return undefined;
    only = exchange;
  }
  return only;
}
