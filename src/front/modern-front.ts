import { BridgeError } from "../errors.js";
import { errorText, type NotificationMessage, resultText } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Failed, Outcome } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { clientNotificationMembership } from "../wire/classify.js";
import { type Envelope, readEnvelope, readMeta } from "../wire/modern/envelope.js";
import { readInterest } from "../wire/modern/listen.js";
import { createInFlight } from "./in-flight.js";
import { discover } from "./modern-discover.js";
import { openListen } from "./modern-listen.js";
import type { ModernReply } from "./modern-reply.js";
import { type ModernRequest, type Sender, toCaller, toOperation } from "./modern-request.js";
import type { Offer } from "./offer.js";
import { createRequestNotices } from "./request-notices.js";

export interface ModernFrontDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly offer: Offer;
}

/** A request that is legal and offered, with whose it is and where its answer goes. */
export interface ModernTurn {
  readonly request: ModernRequest;
  readonly caller: Caller;
  readonly reply: ModernReply;
  /** The client's cancellation; nothing is written after it. */
  readonly signal: AbortSignal;
  /** The request's `Mcp-Param-*` headers, where the transport has headers. */
  readonly parameterHeaders?: Readonly<Record<string, string>> | undefined;
}

/** Our face as a modern server, whatever carries the messages. Each request stands for itself. */
export interface ModernFront {
  readonly offer: Offer;
  /** Returns how to end a subscription gracefully; undefined for every other request. */
  serve(turn: ModernTurn): (() => void) | undefined;
  /** Takes a notification other than `notifications/cancelled`, which is the transport's. */
  notify(message: NotificationMessage, sender: Sender): void;
  /** Ends every subscription gracefully and refuses what comes after. */
  close(): void;
}

export function createModernFront(deps: ModernFrontDeps): ModernFront {
  const { service, journal, limits, offer } = deps;
  const inFlight = createInFlight(limits.maxInFlightPerPrincipal);
  const watches = createInFlight(limits.maxWatchesPerPrincipal);
  const listens = new Set<() => void>();
  const discoverDeps = { ...deps, revisions: offer.revisions };
  let closed = false;

  const listen = ({ request, caller, reply, signal }: ModernTurn): Failed | (() => void) => {
    const { id, params, envelope } = request;
    const interest = readInterest(params, envelope, limits.maxWatchedUris);
    if ("type" in interest) return interest;
    if (!watches.enter(caller.principal)) return overloaded("subscriptions");
    const over = (): void => {
      watches.leave(caller.principal);
      listens.delete(end);
    };
    const end = openListen(deps, { id, interest, caller }, reply, signal, over);
    listens.add(end);
    return end;
  };

  const relay = (turn: ModernTurn): Failed | undefined => {
    const { request, caller, reply, signal, parameterHeaders } = turn;
    const operation = toOperation(request, caller, parameterHeaders);
    if ("type" in operation) return operation;
    if (!inFlight.enter(caller.principal)) return overloaded("requests");
    let done = false;
    const notices = createRequestNotices(request.envelope, (text) => {
      if (!done && !signal.aborted) reply.notice(text);
    });
    const finish = (outcome: Outcome): void => {
      done = true;
      inFlight.leave(caller.principal);
      if (signal.aborted) return;
      if (outcome.type === "failed") refuse(turn, outcome);
      else reply.result(resultText(request.id, outcome.result));
    };
    const pending =
      request.method === "server/discover"
        ? discover(discoverDeps, caller, signal)
        : service.relay(operation, notices, signal);
    pending.then(finish, (error: unknown) => finish(toFailed(error)));
    return undefined;
  };

  return {
    offer,
    serve: (turn) => {
      if (turn.signal.aborted) return undefined;
      const isListen = turn.request.method === "subscriptions/listen";
      const started = closed ? shuttingDown() : isListen ? listen(turn) : relay(turn);
      if (typeof started === "function") return started;
      if (started !== undefined) refuse(turn, started);
      return undefined;
    },
    notify: (message, sender) => {
      const forwarded = offer.forwardUnknown && !closed;
      if (!forwarded || clientNotificationMembership(message.method) !== "unknown") {
        journal.debug("client-notification-dropped", { method: message.method.slice(0, 128) });
        return;
      }
      const envelope = readEnvelope(readMeta(message.params).meta);
      const caller = toCaller("type" in envelope ? NOTHING_SAID : envelope, sender);
      service.notify(message.method, message.params, caller);
    },
    close: () => {
      closed = true;
      for (const endGracefully of [...listens]) endGracefully();
    },
  };
}

/** Notifications need no envelope: who sends none declares nothing. */
const NOTHING_SAID: Envelope = {
  revision: "",
  identity: undefined,
  capabilities: "{}",
  logLevel: undefined,
  progressToken: undefined,
  affinity: undefined,
};

function refuse({ request, reply }: ModernTurn, failed: Failed): void {
  reply.failed(errorText(request.id, failed.error.text), failed);
}

function overloaded(what: string): Failed {
  return toFailed(new BridgeError("overloaded", `too many ${what} of this client are open`));
}

function shuttingDown(): Failed {
  return toFailed(new BridgeError("closed", "the bridge is shutting down"));
}
