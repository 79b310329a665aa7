import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Deadlines, Timed } from "./deadlines.js";
import type { LegacySession } from "./legacy-session.js";
import type { Need, Place } from "./session-group.js";

/** The use of a session; while there is one, the session is not retired. */
export interface Lease {
  readonly session: LegacySession;
  /** False while the server waits for the client, so that the turn is another call's. */
  readonly active: boolean;
  /** True once after the key's session was lost and opened anew. */
  takeReset(): boolean;
  /** Gives up the turn without giving up the session. */
  rest(): void;
  /**
   * Becomes active again. `inTurn`: not beside another call that can be asked; undefined when there is
   * none, else resolves when it is over, when the wait takes too long, or when the signal aborts.
   */
  wake(inTurn: boolean, signal: AbortSignal): Promise<void> | undefined;
  /** Harmless when repeated. */
  release(): void;
}

export interface LeaseOptions {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
  /** The place has a turn to give. */
  readonly freed: (place: Place) => void;
  /** Nobody uses the place. */
  readonly idle: (place: Place) => void;
}

/** A lease and what it was made of. */
interface Held extends Lease {
  active: boolean;
  released: boolean;
  readonly options: LeaseOptions;
  readonly place: Place;
  readonly isCall: boolean;
  readonly askable: boolean;
}

// All leases share these functions: there is one for every request, and closures would be most of it.

/** `askable`: the server could ask the client something whose place matters to the user. */
export function createLease(
  options: LeaseOptions,
  place: Place,
  need: Need,
  askable: boolean,
): Lease {
  const lease: Held = {
    session: place.session,
    active: false,
    released: false,
    options,
    place,
    isCall: need !== "first",
    askable,
    takeReset,
    rest,
    wake,
    release,
  };
  place.uses += 1;
  place.dueAt = Number.POSITIVE_INFINITY;
  if (lease.isCall) place.calls += 1;
  activate(lease);
  return lease;
}

function activate(lease: Held): void {
  if (lease.active || lease.released) return;
  lease.active = true;
  if (lease.askable) lease.place.askable += 1;
}

function takeReset(this: Held): boolean {
  const { group } = this.place;
  const { lost } = group;
  group.lost = false;
  return lost;
}

function rest(this: Held): void {
  const { options, place, askable } = this;
  if (!this.active) return;
  this.active = false;
  if (!askable) return;
  place.askable -= 1;
  // A call that is under way already goes before one that has not begun.
  const next = place.askable === 0 ? place.returning.shift() : undefined;
  next?.();
  options.freed(place);
}

function wake(this: Held, inTurn: boolean, signal: AbortSignal): Promise<void> | undefined {
  if (inTurn && this.askable && this.place.askable > 0) return waitForTurn(this, signal);
  activate(this);
  return undefined;
}

function release(this: Held): void {
  const { options, place } = this;
  if (this.released) return;
  this.rest();
  this.released = true;
  place.uses -= 1;
  if (this.isCall) place.calls -= 1;
  if (place.uses === 0) options.idle(place);
}

function waitForTurn(lease: Held, signal: AbortSignal): Promise<void> {
  const { place, options } = lease;
  const { clock, deadlines, limits } = options;
  return new Promise((resolve) => {
    const over = (): void => {
      deadlines.forget(timed);
      signal.removeEventListener("abort", given);
      const index = place.returning.indexOf(given);
      if (index >= 0) place.returning.splice(index, 1);
      resolve();
    };
    const given = (): void => {
      activate(lease);
      over();
    };
    const timed: Timed = { dueAt: clock.now() + limits.turnWaitMs, expire: given };
    place.returning.push(given);
    deadlines.watch(timed);
    signal.addEventListener("abort", given, { once: true });
  });
}
