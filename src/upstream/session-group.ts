import type { Caller, Principal } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Timed } from "./deadlines.js";
import type { LegacySession } from "./legacy-session.js";
import type { OpenPause } from "./open-pause.js";

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

/** One session in use or at hand. */
export interface Place extends Timed {
  readonly session: LegacySession;
  readonly group: Group;
  /** Answers of the server before the first use. */
  readonly answersBefore: number;
  uses: number;
  /** Uses by calls, parked ones included. */
  calls: number;
  /** Calls at work that the server could ask something. */
  askable: number;
  /** Calls with answers of their clients, which wait for others to be over. */
  readonly returning: (() => void)[];
  idleSince: number;
}

/** A request that no session serves yet. */
export interface Waiter extends Timed {
  readonly caller: Caller;
  readonly need: Need;
  readonly askable: boolean;
  readonly grant: (place: Place) => void;
  readonly refuse: (error: unknown) => void;
}

/** The sessions of one key, and who waits for them. */
export interface Group {
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

/** How many sessions a key may have. */
export function capacityOf(policy: SessionPolicy): number {
  const size = policy.startsWith("pool:") ? Number(policy.slice(5)) : 1;
  return Number.isInteger(size) && size > 0 ? size : 1;
}

/** The place that serves a need now, if one does. */
export function placeFor({ places, capacity }: Group, need: Need): Place | undefined {
  // Of several sessions one without any call is best, for a parked call may still ask something.
  if (need === "first" || (need === "any" && capacity === 1)) return places[0];
  const idle = places.find((place) => place.calls === 0);
  if (idle !== undefined || places.length < capacity) return idle;
  if (need === "turn") {
    return places.find((place) => place.askable === 0 && place.returning.length === 0);
  }
  return places.reduce((least, place) => (place.calls < least.calls ? place : least));
}

/** Does nothing hang on the group? */
export function isEmpty(group: Group): boolean {
  return group.places.length === 0 && group.openings === 0 && group.queue.length === 0;
}

export function takeFromQueue({ queue }: Group, waiter: Waiter): void {
  const index = queue.indexOf(waiter);
  if (index >= 0) queue.splice(index, 1);
}

/** The sessions of which one must go before a principal may have another; undefined when there is room. */
export function crowd(
  groups: Iterable<Group>,
  places: Iterable<Place>,
  principal: Principal,
  limits: Limits,
): { readonly places: readonly Place[]; readonly limit: keyof Limits } | undefined {
  let opening = 0;
  let ownOpening = 0;
  for (const group of groups) {
    opening += group.openings;
    if (group.principal === principal) ownOpening += group.openings;
  }
  const all = [...places];
  const own = all.filter((place) => place.group.principal === principal);
  if (own.length + ownOpening >= limits.maxSessionsPerPrincipal) {
    return { places: own, limit: "maxSessionsPerPrincipal" };
  }
  return all.length + opening >= limits.maxSessions
    ? { places: all, limit: "maxSessions" }
    : undefined;
}

/** The place that has been idle for longest. */
export function longestIdle(places: readonly Place[]): Place | undefined {
  let oldest: Place | undefined;
  for (const place of places) {
    if (place.uses > 0) continue;
    if (oldest === undefined || place.idleSince < oldest.idleSince) oldest = place;
  }
  return oldest;
}
