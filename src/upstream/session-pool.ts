import { BridgeError } from "../errors.js";
import type { Caller, Principal } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import type { Deadlines } from "./deadlines.js";
import type { LegacySession } from "./legacy-session.js";
import { createOpenPause } from "./open-pause.js";
import {
  capacityOf,
  crowd,
  type Group,
  isEmpty,
  longestIdle,
  type Need,
  type Place,
  placeFor,
  type SessionPolicy,
  takeFromQueue,
  type Waiter,
} from "./session-group.js";
import type { SessionKeys } from "./session-key.js";
import { createLease, type Lease, type LeaseOptions } from "./session-lease.js";

export type { SessionPolicy } from "./session-group.js";
export type { Lease } from "./session-lease.js";

export interface SessionPool {
  /** Rejects with BridgeError: cannot be opened, a limit is reached, aborted, closed. */
  acquire(
    caller: Caller,
    need: Need,
    askable: boolean,
    signal: AbortSignal,
  ): Lease | Promise<Lease>;
  /** The session was lost: it takes nothing new and closes once its last use is released. */
  drop(session: LegacySession): void;
  /** Takes a session out of use that only the asker uses; false when others use it too. */
  replace(session: LegacySession): boolean;
  /** Ready sessions of a principal. */
  sessionsOf(principal: Principal): readonly LegacySession[];
  readonly sessions: number;
  readonly opening: number;
  /** Requests that wait for a session or for their turn. */
  readonly waiting: number;
  /** Rejects who waits, closes every session; resolves when none is left. */
  close(): Promise<void>;
}

export interface SessionPoolOptions {
  readonly name: string;
  readonly policy: SessionPolicy;
  readonly keys: SessionKeys;
  readonly open: (caller: Caller, signal: AbortSignal) => Promise<LegacySession>;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly journal: Journal;
  readonly limits: Limits;
}

/** The sessions of one upstream, opened once however many callers wait for them. */
export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const { name, policy, keys, clock, deadlines, journal, limits } = options;
  const capacity = capacityOf(policy);
  const groups = new Map<string, Group>();
  const places = new Map<LegacySession, Place>();
  /** Sessions on their way out: closing, or closing as soon as their uses are released. */
  const leaving = new Set<Promise<void>>();
  /** Each with a signal of its own: they may be many, and a shared one would have as many listeners. */
  const openings = new Map<Promise<void>, AbortController>();
  let closed = false;
  let onceOnly = 0;

  const groupOf = (caller: Caller): Group => {
    const disposable = caller.anonymous || policy === "per-call";
    const key = disposable ? `once ${++onceOnly}` : keys.keyOf(caller);
    const known = groups.get(key);
    if (known !== undefined) return known;
    if (groups.size > 2 * limits.maxSessions) sweep();
    const group: Group = {
      key,
      principal: caller.principal,
      capacity: disposable ? 1 : capacity,
      disposable,
      pause: createOpenPause(clock, limits),
      places: [],
      openings: 0,
      queue: [],
      lost: false,
    };
    groups.set(key, group);
    return group;
  };

  const sweep = (): void => {
    for (const group of groups.values()) if (isEmpty(group)) groups.delete(group.key);
  };

  const dismiss = (session: LegacySession): void => {
    const gone = session.close().finally(() => leaving.delete(gone));
    leaving.add(gone);
  };

  const remove = (place: Place): void => {
    const { group, session } = place;
    const index = group.places.indexOf(place);
    if (index >= 0) group.places.splice(index, 1);
    deadlines.forget(place);
    if (place.uses === 0) {
      places.delete(session);
      dismiss(session);
    }
    if (group.disposable && isEmpty(group)) groups.delete(group.key);
  };

  const settleIdle = (place: Place): void => {
    const { disposable, places: kept } = place.group;
    if (disposable || place.session.state !== "ready" || !kept.includes(place)) {
      remove(place);
      return;
    }
    place.idleSince = clock.now();
    place.dueAt = place.idleSince + limits.sessionIdleMs;
    deadlines.watch(place);
  };

  const leasing: LeaseOptions = {
    ...{ clock, deadlines, limits },
    freed({ group }) {
      if (group.queue.length > 0) pump(group);
    },
    idle: settleIdle,
  };
  const lease = (place: Place, need: Need, askable: boolean): Lease =>
    createLease(leasing, place, need, askable);

  /** Makes room for one more session, at the cost of the one that has been idle for longest. */
  const makeRoom = (principal: Principal): void => {
    const full = crowd(groups.values(), places.values(), principal, limits);
    if (full === undefined) return;
    const { limit } = full;
    const idle = longestIdle(full.places);
    if (idle === undefined) {
      const text = `no session with ${name} is free: ${limit} is ${limits[limit]}`;
      throw new BridgeError("overloaded", text, { data: { limit } });
    }
    journal.info("session-evicted", { upstream: name, session: idle.session.serial, limit });
    remove(idle);
  };

  const settled = (group: Group, session: LegacySession): void => {
    group.pause.opened();
    const place: Place = {
      session,
      group,
      answersBefore: session.conversation.answers,
      uses: 0,
      calls: 0,
      askable: 0,
      returning: [],
      idleSince: clock.now(),
      dueAt: Number.POSITIVE_INFINITY,
      expire() {
        if (place.uses === 0) remove(place);
      },
    };
    places.set(session, place);
    group.places.push(place);
    pump(group);
    if (place.uses === 0 && group.places.includes(place)) settleIdle(place);
  };

  const failed = (group: Group, error: unknown): void => {
    group.pause.failed(error);
    if (group.places.length === 0 && group.openings === 0) {
      for (const waiter of group.queue.splice(0)) waiter.refuse(error);
    }
    if (group.disposable && isEmpty(group)) groups.delete(group.key);
  };

  const open = (group: Group, caller: Caller): void => {
    group.openings += 1;
    const abort = new AbortController();
    const opening = options
      .open(caller, abort.signal)
      .then(
        (session) => {
          group.openings -= 1;
          if (closed) dismiss(session);
          else if (session.state === "ready") settled(group, session);
          else failed(group, new BridgeError("upstream-lost", `${name} went away at once`));
        },
        (error: unknown) => {
          group.openings -= 1;
          failed(group, error);
        },
      )
      .finally(() => openings.delete(opening));
    openings.set(opening, abort);
  };

  /** Opens a session for a waiter, unless one that is being opened will do or there is no room. */
  const openFor = (group: Group, waiter: Waiter, covered: number): void => {
    const room = group.places.length + group.openings < group.capacity;
    const wanted = waiter.need === "first" ? group.openings === 0 : covered > group.openings;
    if (!room || !wanted) return;
    try {
      makeRoom(waiter.caller.principal);
      open(group, waiter.caller);
    } catch (error) {
      // With a session at hand the request waits for its turn instead.
      if (group.places.length + group.openings > 0) return;
      takeFromQueue(group, waiter);
      waiter.refuse(error);
    }
  };

  /** Serves who can be served, and opens sessions for those who wait for one. */
  const pump = (group: Group): void => {
    let covered = 0;
    for (const waiter of [...group.queue]) {
      const place = placeFor(group, waiter.need);
      if (place === undefined) openFor(group, waiter, ++covered);
      else {
        takeFromQueue(group, waiter);
        waiter.grant(place);
      }
    }
    if (group.disposable && isEmpty(group)) groups.delete(group.key);
  };

  const wait = (
    group: Group,
    caller: Caller,
    need: Need,
    askable: boolean,
    signal: AbortSignal,
  ): Promise<Lease> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        deadlines.forget(waiter);
        signal.removeEventListener("abort", aborted);
      };
      const refuse = (error: unknown): void => {
        leave();
        reject(error);
      };
      const withdraw = (error: BridgeError): void => {
        takeFromQueue(group, waiter);
        refuse(error);
      };
      const aborted = (): void =>
        withdraw(new BridgeError("cancelled", "the request was cancelled"));
      const waiter: Waiter = {
        caller,
        need,
        askable,
        refuse,
        grant(place) {
          leave();
          resolve(lease(place, need, askable));
        },
        dueAt: clock.now() + limits.turnWaitMs,
        expire() {
          const text = `the session with ${name} did not become free within turnWaitMs`;
          withdraw(new BridgeError("overloaded", text, { data: { limit: "turnWaitMs" } }));
        },
      };
      group.queue.push(waiter);
      deadlines.watch(waiter);
      signal.addEventListener("abort", aborted, { once: true });
      pump(group);
    });

  return {
    acquire(caller, need, askable, signal) {
      if (closed) throw new BridgeError("closed", "the bridge is shutting down");
      if (signal.aborted) throw new BridgeError("cancelled", "the request was cancelled");
      const group = groupOf(caller);
      const place = group.queue.length === 0 ? placeFor(group, need) : undefined;
      if (place !== undefined) return lease(place, need, askable);
      if (group.places.length === 0 && group.openings === 0) group.pause.check();
      return wait(group, caller, need, askable, signal);
    },
    drop(session) {
      const place = places.get(session);
      if (place === undefined || !place.group.places.includes(place)) return;
      const { group } = place;
      group.lost = true;
      const crashed = session.state === "over";
      if (crashed && session.conversation.answers === place.answersBefore) {
        group.pause.failed(new BridgeError("upstream-lost", `${name} went away without an answer`));
      } else group.pause.recovered();
      remove(place);
      pump(group);
    },
    replace(session) {
      const place = places.get(session);
      if (place === undefined || place.uses !== 1 || place.group.disposable) return false;
      remove(place);
      return true;
    },
    sessionsOf: (principal) =>
      [...places.keys()].filter(
        ({ caller, state }) => caller.principal === principal && state === "ready",
      ),
    get sessions() {
      return places.size;
    },
    get opening() {
      return openings.size;
    },
    get waiting() {
      let sum = 0;
      for (const group of groups.values()) sum += group.queue.length;
      return sum;
    },
    async close() {
      closed = true;
      for (const abort of openings.values()) abort.abort();
      const error = new BridgeError("closed", "the bridge is shutting down");
      for (const group of groups.values()) {
        for (const waiter of group.queue.splice(0)) waiter.refuse(error);
      }
      for (const place of [...places.values()]) {
        deadlines.forget(place);
        dismiss(place.session);
      }
      places.clear();
      groups.clear();
      await Promise.all([...openings.keys()]);
      await Promise.all([...leaving]);
    },
  };
}
