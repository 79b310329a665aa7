import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { ErrorMessage, ResponseMessage } from "../jsonrpc/message.js";
import { readObject } from "../jsonrpc/raw-object.js";
import { toFailed } from "../model/failure.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Notices } from "../model/notice.js";
import type { Failed, Operation, Outcome } from "../model/operation.js";
import { createTurnoverMap, createTurnoverSet } from "../model/turnover.js";
import { lowerRequest } from "../translation/lower.js";
import { SESSION_RESET } from "../translation/sessions.js";
import { deliverKept, deliverProgress } from "./call-notices.js";
import { outcomeOf } from "./call-outcome.js";
import {
  type Exchange,
  type ExchangeLoss,
  isUnprocessed,
  meansSessionGone,
  toBridgeError,
} from "./exchange.js";
import { type Attachment, type CallEnd, type LegacyCall, moveCall, remark } from "./legacy-call.js";
import type { LegacySession } from "./legacy-session.js";
import type { Need } from "./session-group.js";
import type { Lease, SessionPool } from "./session-pool.js";

/** Where the other parts of the upstream take part in a call. */
export interface CallHooks {
  /** What kind of session the call needs. */
  needOf(call: LegacyCall): { readonly need: Need; readonly askable: boolean };
  /** Anything that must happen between the lease and the request; undefined for nothing. */
  prepare(call: LegacyCall): Promise<void> | undefined;
  /** Last changes to the params the server gets. */
  amend(call: LegacyCall, params: JsonText): JsonText;
  /** The call is at the server. */
  sent(call: LegacyCall, session: LegacySession): void;
  /** Sees the answer first; true when it is no outcome yet. */
  answered(call: LegacyCall, message: ResponseMessage | ErrorMessage): boolean;
  /** Nobody wants the outcome; the request that is open at the server is cancelled next. */
  cancelling(call: LegacyCall, reason: string): void;
  /** The call occupies its session no more. `answered`: the server finished it. */
  left(call: LegacyCall, session: LegacySession, answered: boolean): void;
  /** The last thing that happens to a call. */
  ended(call: LegacyCall, end: CallEnd): void;
  /** The server no longer knows the session. */
  sessionGone(session: LegacySession): void;
}

export interface Stop {
  /** What the server is told. */
  readonly reason: string;
  readonly end: CallEnd;
  /** What the waiting round gets, if one waits. */
  readonly outcome: Outcome;
}

export interface Calls {
  /** The first round of a call. Never rejects. */
  start(operation: Operation, notices: Notices, signal: AbortSignal): Promise<Outcome>;
  /** Gives a call a new round that waits for it. */
  attach(
    call: LegacyCall,
    operation: Operation,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Outcome>;
  /** Gives a call's kept outcome to a new round. */
  handOver(
    call: LegacyCall,
    operation: Operation,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Outcome>;
  /** Starts a call over that is not at the server: on a session found anew, or on the one it holds. */
  restart(call: LegacyCall, where: "anew" | "here"): void;
  /** The server is done with the exchange of a call, but the call is not over. */
  detach(call: LegacyCall): void;
  /** A further exchange that belongs to the call. */
  adopt(call: LegacyCall, exchange: Exchange): void;
  /** The exchange of a call got no answer. */
  lose(call: LegacyCall, loss: ExchangeLoss): void;
  /** Takes the outcome: for the round that waits, or for the next one. */
  finish(call: LegacyCall, outcome: Outcome): void;
  /** Takes a result or an error of the server as the outcome. */
  finishWith(call: LegacyCall, message: ResponseMessage | ErrorMessage): void;
  /** Ends a call from our side; the server is told. */
  stop(call: LegacyCall, stop: Stop): void;
  /** Calls that occupy a session, by the id of their exchange. */
  of(session: LegacySession): ReadonlyMap<number, LegacyCall>;
  /** Calls that have not ended. */
  readonly all: ReadonlySet<LegacyCall>;
}

export interface CallsOptions {
  readonly name: string;
  readonly pool: SessionPool;
  readonly limits: Limits;
  readonly hooks: CallHooks;
}

export const CANCELLED: Failed = toFailed(new BridgeError("cancelled", "the call was cancelled"));
const NO_CALLS: ReadonlyMap<number, LegacyCall> = new Map();

/** The life of calls at a legacy server, from their first round to their end. */
export function createCalls({ name, pool, limits, hooks }: CallsOptions): Calls {
  const all = createTurnoverSet<LegacyCall>();
  const inFlight = new WeakMap<LegacySession, Map<number, LegacyCall>>();
  let started = 0;

  const adopt = (call: LegacyCall, exchange: Exchange): void => {
    const session = call.lease?.session;
    if (session === undefined) return;
    call.exchange = exchange;
    const calls = inFlight.get(session);
    if (calls !== undefined) calls.set(exchange.id, call);
    else {
      const first = createTurnoverMap<number, LegacyCall>();
      inFlight.set(session, first.set(exchange.id, call));
    }
  };

  const detach = (call: LegacyCall): void => {
    const { lease, exchange } = call;
    call.exchange = undefined;
    if (lease === undefined || exchange === undefined) return;
    inFlight.get(lease.session)?.delete(exchange.id);
  };

  /** Frees the session of a call. */
  const leave = (call: LegacyCall, answered: boolean): void => {
    const { lease } = call;
    if (lease === undefined) return;
    detach(call);
    call.lease = undefined;
    hooks.left(call, lease.session, answered);
    lease.release();
  };

  const end = (call: LegacyCall, how: CallEnd): void => {
    if (!moveCall(call, "ended") && call.state !== "ended") return;
    all.delete(call);
    hooks.ended(call, how);
  };

  const tooLarge = (outcome: Outcome): boolean =>
    outcome.type === "complete" && outcome.result.length > limits.maxKeptResultBytes;

  const finish = (call: LegacyCall, outcome: Outcome, answered = false): void => {
    const { attachment } = call;
    if (!moveCall(call, "outcome")) return;
    leave(call, answered);
    if (call.state === "kept") {
      call.keptOutcome = tooLarge(outcome)
        ? toFailed(
            new BridgeError("overloaded", "the result is longer than maxKeptResultBytes", {
              data: { limit: "maxKeptResultBytes" },
            }),
          )
        : outcome;
      return;
    }
    end(call, "consumed");
    attachment?.settle(outcome);
  };

  const finishWith: Calls["finishWith"] = (call, message) =>
    finish(call, outcomeOf(call, message, name), true);

  const restart: Calls["restart"] = (call, where) => {
    if (call.state !== "waiting" && !moveCall(call, "refused")) return;
    if (where === "anew" || call.lease?.session.state !== "ready") leave(call, false);
    run(call);
  };

  const lose = (call: LegacyCall, loss: ExchangeLoss): void => {
    const session = call.lease?.session;
    if (session !== undefined && meansSessionGone(loss)) hooks.sessionGone(session);
    if (call.attachment === undefined) {
      leave(call, false);
      end(call, "lost");
    } else if (isUnprocessed(loss) && !call.resent && call.dialogue?.begun !== true) {
      call.resent = true;
      restart(call, "anew");
    } else finish(call, toFailed(toBridgeError(loss, name)));
  };

  const send = (call: LegacyCall): void => {
    const { lease, attachment } = call;
    if (lease === undefined) return;
    const { conversation } = lease.session;
    const exchange = conversation.request(
      call.method,
      (id) => {
        const token = attachment?.wantsProgress === true ? id : undefined;
        return hooks.amend(call, lowerRequest(call.method, call.spans ?? call.params, token));
      },
      {
        answered: (message) => {
          if (!hooks.answered(call, message)) finishWith(call, message);
        },
        lost: (loss) => lose(call, loss),
        progressed: (params) => deliverProgress(call, params),
      },
    );
    // A link may lose the request at once; the call then goes its own way.
    if (call.lease !== lease || !moveCall(call, "sent")) return;
    adopt(call, exchange);
    hooks.sent(call, lease.session);
  };

  const takeLease = (call: LegacyCall, lease: Lease): boolean => {
    if (call.state !== "waiting") {
      lease.release();
      return false;
    }
    call.lease = lease;
    if (lease.takeReset()) {
      remark(call, SESSION_RESET);
    }
    return true;
  };

  const proceed = (call: LegacyCall): Promise<void> | undefined => {
    const { lease } = call;
    const preparation = hooks.prepare(call);
    if (preparation !== undefined) return preparation.then(() => sendOn(call, lease));
    sendOn(call, lease);
    return undefined;
  };

  const sendOn = (call: LegacyCall, lease: Lease | undefined): void => {
    // The preparation may have asked the client first, or started over on another session.
    if (call.state === "waiting" && call.lease === lease) send(call);
  };

  const proceedOn = (call: LegacyCall, lease: Lease): Promise<void> | undefined =>
    takeLease(call, lease) ? proceed(call) : undefined;

  const acquire = (call: LegacyCall): Promise<void> | undefined => {
    if (call.lease !== undefined) return proceed(call);
    const { need, askable } = hooks.needOf(call);
    const lease = pool.acquire(call.caller, need, askable, call.signal);
    if (lease instanceof Promise) return lease.then((granted) => proceedOn(call, granted));
    return proceedOn(call, lease);
  };

  /** Most calls find a session at hand and need no preparation: they are sent at once. */
  const run = (call: LegacyCall): void => {
    try {
      acquire(call)?.catch((error: unknown) => finish(call, toFailed(error)));
    } catch (error) {
      finish(call, toFailed(error));
    }
  };

  const stop = (call: LegacyCall, { reason, end: how, outcome }: Stop): void => {
    if (call.state === "ended") return;
    const { attachment, exchange, lease } = call;
    hooks.cancelling(call, reason);
    if (exchange !== undefined) lease?.session.conversation.cancel(exchange, reason);
    leave(call, false);
    end(call, how);
    attachment?.settle(outcome);
  };

  const attach = (
    call: LegacyCall,
    { caller, logLevel, wantsProgress }: Operation,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Outcome> =>
    new Promise((resolve) => {
      const aborted = (): void => {
        if (call.attachment !== attachment) return;
        stop(call, {
          reason: "cancelled by the client",
          end: "cancelled",
          outcome: CANCELLED,
        });
      };
      const attachment: Attachment = {
        logLevel,
        wantsProgress,
        notices,
        settle(outcome) {
          signal.removeEventListener("abort", aborted);
          call.attachment = undefined;
          resolve(outcome);
        },
      };
      call.attachment = attachment;
      call.caller = caller;
      call.logLevel = logLevel;
      call.signal = signal;
      if (signal.aborted) aborted();
      else signal.addEventListener("abort", aborted, { once: true });
    });

  return {
    start(operation, notices, signal) {
      const { method, params, spans, caller, logLevel, answers } = operation;
      const call: LegacyCall = {
        order: ++started,
        method,
        params,
        spans: spans?.text === params ? spans : readObject(params),
        subject: undefined,
        caller,
        logLevel,
        signal,
        state: "waiting",
        attachment: undefined,
        lease: undefined,
        exchange: undefined,
        dialogue: undefined,
        prefilled: mayRequireInput(method) ? answers?.responses : undefined,
        resent: false,
        lastProgress: undefined,
        kept: undefined,
        keptOutcome: undefined,
        remarks: [],
        task: undefined,
      };
      all.add(call);
      const outcome = attach(call, operation, notices, signal);
      if (call.state === "waiting") run(call);
      return outcome;
    },
    attach,
    handOver(call, operation, notices, signal) {
      const outcome = attach(call, operation, notices, signal);
      if (call.state !== "kept") return outcome;
      deliverKept(call);
      moveCall(call, "resumed");
      end(call, "consumed");
      call.attachment?.settle(call.keptOutcome ?? CANCELLED);
      return outcome;
    },
    restart,
    detach,
    adopt,
    lose,
    finish,
    finishWith,
    stop,
    of: (session) => inFlight.get(session) ?? NO_CALLS,
    all,
  };
}
