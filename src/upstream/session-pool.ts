import { BridgeError } from "../errors.js";
import type { Caller, Principal } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import type { Deadlines, Timed } from "./deadlines.js";
import type { LegacySession } from "./legacy-session.js";
import { createOpenPause, type OpenPause } from "./open-pause.js";
import type { SessionKeys } from "./session-key.js";

/**
 * How calls of one key share sessions. `shared`: one session. `exclusive`: one session, calls that can
 * be asked one at a time. `pool:N`: up to N sessions. `per-call`: a session for each call.
 */
export type SessionPolicy = "shared" | "exclusive" | "per-call" | `pool:${number}`;

/**
 * What a request needs of its session. `first`: the first session of the key, for lists and watches.
 * `any`: a session. `turn`: a session on which no other call runs that could be asked something.
 */
export type Need = "first" | "any" | "turn";

/** The use of a session; while there is one, the session is not retired. */
export interface Lease {
  readonly session: LegacySession;
  /** True once after the key's session was lost and opened anew. */
  takeReset(): boolean;
  /** Harmless when repeated. */
  release(): void;
}

export interface SessionPool {
  /** Rejects with BridgeError: cannot be opened, a limit is reached, aborted, closed. */
  acquire(
    caller: Caller,
    need: Need,
    askable: boolean,
    signal: AbortSignal,
  ): Lease | Promise<Lease>;
  /** The session takes nothing new and closes once its last use is released. */
  drop(session: LegacySession): void;
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

interface Place extends Timed {
  readonly session: LegacySession;
  readonly group: Group;
  readonly answersBefore: number;
  uses: number;
  calls: number;
  askable: number;
  idleSince: number;
}

interface Waiter extends Timed {
  readonly caller: Caller;
  readonly need: Need;
  readonly askable: boolean;
  readonly grant: (place: Place) => void;
  readonly refuse: (error: unknown) => void;
}

interface Group {
  readonly key: string;
  readonly principal: Principal;
  readonly capacity: number;
  /** For one use only: closed when it is over. */
  readonly disposable: boolean;
  readonly pause: OpenPause;
  places: Place[];
  openings: number;
  queue: Waiter[];
  lost: boolean;
}

function capacityOf(policy: SessionPolicy): number {
  const size = policy.startsWith("pool:") ? Number(policy.slice(5)) : 1;
  return Number.isInteger(size) && size > 0 ? size : 1;
}

/** The place that serves a need now, if one does. */
function placeFor({ places, capacity }: Group, need: Need): Place | undefined {
  if (need === "first" || (need === "any" && capacity === 1)) return places[0];
  if (need === "turn") return places.find((place) => place.askable === 0);
  const idle = places.find((place) => place.calls === 0);
  if (idle !== undefined || places.length < capacity) return idle;
  return places.reduce((least, place) => (place.calls < least.calls ? place : least));
}

/** The sessions of one upstream, opened once however many callers wait for them. */
export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const { name, policy, keys, clock, deadlines, journal, limits } = options;
  const capacity = capacityOf(policy);
  const groups = new Map<string, Group>();
  const places = new Map<LegacySession, Place>();
  /** Sessions on their way out: closing, or closing as soon as their uses are released. */
  const leaving = new Set<Promise<void>>();
  const openings = new Set<Promise<void>>();
  const abort = new AbortController();
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

  const isEmpty = (group: Group): boolean =>
    group.places.length === 0 && group.openings === 0 && group.queue.length === 0;

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
    if (place.group.disposable || place.session.state !== "ready") {
      remove(place);
      return;
    }
    place.idleSince = clock.now();
    place.dueAt = place.idleSince + limits.sessionIdleMs;
    deadlines.watch(place);
  };

  const lease = (place: Place, need: Need, askable: boolean): Lease => {
    place.uses += 1;
    place.dueAt = Number.POSITIVE_INFINITY;
    const isCall = need !== "first";
    if (isCall) place.calls += 1;
    if (askable) place.askable += 1;
    let released = false;
    return {
      session: place.session,
      takeReset() {
        const { lost } = place.group;
        place.group.lost = false;
        return lost;
      },
      release() {
        if (released) return;
        released = true;
        place.uses -= 1;
        if (isCall) place.calls -= 1;
        if (askable) place.askable -= 1;
        if (place.uses === 0) settleIdle(place);
        if (place.group.queue.length > 0) pump(place.group);
      },
    };
  };

  /** Makes room for one more session, at the cost of the one that has been idle for longest. */
  const makeRoom = (principal: Principal): void => {
    const all = [...places.values()];
    const own = all.filter((place) => place.session.caller.principal === principal);
    const evict = (among: readonly Place[], limit: keyof Limits): void => {
      const idle = among.filter((place) => place.uses === 0);
      if (idle.length === 0) {
        const text = `no session with ${name} is free: ${limit} is ${limits[limit]}`;
        throw new BridgeError("overloaded", text, { data: { limit } });
      }
      const oldest = idle.reduce((old, place) => (place.idleSince < old.idleSince ? place : old));
      journal.info("session-evicted", { upstream: name, session: oldest.session.serial, limit });
      remove(oldest);
    };
    let opening = 0;
    let ownOpening = 0;
    for (const group of groups.values()) {
      opening += group.openings;
      if (group.principal === principal) ownOpening += group.openings;
    }
    if (own.length + ownOpening >= limits.maxSessionsPerPrincipal)
      evict(own, "maxSessionsPerPrincipal");
    else if (all.length + opening >= limits.maxSessions) evict(all, "maxSessions");
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
    const opening = options
      .open(caller, abort.signal)
      .then(
        (session) => {
          group.openings -= 1;
          if (abort.signal.aborted) dismiss(session);
          else if (session.state === "ready") settled(group, session);
          else failed(group, new BridgeError("upstream-lost", `${name} went away at once`));
        },
        (error: unknown) => {
          group.openings -= 1;
          failed(group, error);
        },
      )
      .finally(() => openings.delete(opening));
    openings.add(opening);
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
      group.queue.splice(group.queue.indexOf(waiter), 1);
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
        group.queue.splice(group.queue.indexOf(waiter), 1);
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
        const index = group.queue.indexOf(waiter);
        if (index >= 0) group.queue.splice(index, 1);
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
      if (abort.signal.aborted) throw new BridgeError("closed", "the bridge is shutting down");
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
      if (session.conversation.answers === place.answersBefore) {
        group.pause.failed(new BridgeError("upstream-lost", `${name} went away without an answer`));
      } else group.pause.recovered();
      remove(place);
      pump(group);
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
      abort.abort();
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
      await Promise.all([...openings]);
      await Promise.all([...leaving]);
    },
  };
}
