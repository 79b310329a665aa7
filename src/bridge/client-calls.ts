import type { CallOutlet } from "../front/call-outlet.js";
import type { InFlight } from "../front/in-flight.js";
import type { Sender } from "../front/modern-request.js";
import { requestKey } from "../front/request-key.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { RequestId, RequestMessage } from "../jsonrpc/message.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Clock } from "../ports/clock.js";
import type { Deadlines, Timed } from "../upstream/deadlines.js";
import type { Gauge } from "./gauge.js";
import { asksForTask, tokenOf } from "./reminting.js";

/** A request of the client that its server has not answered. */
export interface ClientCall {
  /** Its id and its progress token on the hop to the server. */
  readonly number: number;
  readonly id: RequestId;
  readonly method: string;
  readonly outlet: CallOutlet;
  readonly sender: Sender;
  /** The client's progress token. */
  readonly token: JsonText | undefined;
  readonly mayBecomeTask: boolean;
  /** Kept while it may be of use; requests can be large. */
  readonly message: RequestMessage | undefined;
}

/** The requests of one client session, each under a number that counts from 1. */
export interface ClientCalls {
  /** The call that the request is from now on, or why it cannot be one. */
  add(
    message: RequestMessage,
    outlet: CallOutlet,
    sender: Sender,
    keepMessage: boolean,
  ): ClientCall | string;
  get(number: number): ClientCall | undefined;
  /** The number of a request in flight. */
  numberOf(id: RequestId): number | undefined;
  /** The newest call in which a server may ask. */
  newestAsking(): number | undefined;
  /** The call is over; undefined when it was over before. */
  take(number: number): ClientCall | undefined;
  takeAll(): readonly ClientCall[];
  /** The server is at work: its time begins anew, up to the ceiling. */
  progressed(number: number): void;
  readonly size: number;
  /** Resolves when there is none. */
  idle(): Promise<void>;
}

export interface ClientCallsOptions {
  readonly inFlight: InFlight;
  readonly gauge: Gauge;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly limits: Limits;
  /** The server waits for the client, which may take its time. */
  readonly waitsForClient: () => boolean;
  /** The call has had its time; it is no longer kept. */
  readonly expired: (call: ClientCall) => void;
}

interface Entry extends ClientCall, Timed {
  readonly ceilingAt: number;
  /** Uncounts it. */
  readonly leave: () => void;
}

export function createClientCalls(options: ClientCallsOptions): ClientCalls {
  const { inFlight, gauge, deadlines, clock, limits } = options;
  const open = createTurnoverMap<number, Entry>();
  const numbers = new Map<string, number>();
  const whenIdle = new Set<() => void>();
  let lastNumber = 0;

  const take = (number: number): ClientCall | undefined => {
    const entry = open.get(number);
    if (entry === undefined) return undefined;
    open.delete(number);
    numbers.delete(requestKey(entry.id));
    deadlines.forget(entry);
    inFlight.leave(entry.sender.principal);
    entry.leave();
    if (open.size > 0) return entry;
    for (const resolve of whenIdle) resolve();
    whenIdle.clear();
    return entry;
  };

  const prolong = (entry: Entry): void => {
    entry.dueAt = Math.min(clock.now() + limits.requestTimeoutMs, entry.ceilingAt);
  };

  const expire = (entry: Entry): void => {
    if (options.waitsForClient() && clock.now() < entry.ceilingAt) {
      prolong(entry);
      deadlines.watch(entry);
    } else if (take(entry.number) !== undefined) options.expired(entry);
  };

  return {
    add(message, outlet, sender, keepMessage) {
      const { id, method } = message;
      const key = requestKey(id);
      if (numbers.has(key)) return "a request with this id is in flight";
      if (!inFlight.enter(sender.principal)) return "too many requests in flight";
      const number = ++lastNumber;
      const now = clock.now();
      const patience = method === "initialize" ? limits.startTimeoutMs : limits.requestTimeoutMs;
      const entry: Entry = {
        number,
        id,
        method,
        outlet,
        sender,
        token: tokenOf(message),
        mayBecomeTask: asksForTask(message),
        message: keepMessage ? message : undefined,
        leave: gauge.enter(),
        dueAt: now + patience,
        ceilingAt: now + limits.requestCeilingMs,
        expire: () => expire(entry),
      };
      open.set(number, entry);
      numbers.set(key, number);
      deadlines.watch(entry);
      return entry;
    },
    get: (number) => open.get(number),
    numberOf: (id) => numbers.get(requestKey(id)),
    newestAsking() {
      let newest: number | undefined;
      for (const [number, { method }] of open) if (mayAsk(method)) newest = number;
      return newest;
    },
    take,
    takeAll: () => [...open.keys()].flatMap((number) => take(number) ?? []),
    progressed(number) {
      const entry = open.get(number);
      if (entry !== undefined) prolong(entry);
    },
    get size() {
      return open.size;
    },
    idle() {
      if (open.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        whenIdle.add(resolve);
      });
    },
  };
}

function mayAsk(method: string): boolean {
  return mayRequireInput(method) || method === "tasks/result";
}
