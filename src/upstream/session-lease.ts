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

/** `askable`: the server could ask the client something whose place matters to the user. */
export function createLease(
  options: LeaseOptions,
  place: Place,
  need: Need,
  askable: boolean,
): Lease {
  const { clock, deadlines, limits } = options;
  const isCall = need !== "first";
  let active = false;
  let released = false;

  const activate = (): void => {
    if (active || released) return;
    active = true;
    if (askable) place.askable += 1;
  };

  const rest = (): void => {
    if (!active) return;
    active = false;
    if (!askable) return;
    place.askable -= 1;
    // A call that is under way already goes before one that has not begun.
    const next = place.askable === 0 ? place.returning.shift() : undefined;
    next?.();
    options.freed(place);
  };

  const waitForTurn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const over = (): void => {
        deadlines.forget(timed);
        signal.removeEventListener("abort", given);
        const index = place.returning.indexOf(given);
        if (index >= 0) place.returning.splice(index, 1);
        resolve();
      };
      const given = (): void => {
        activate();
        over();
      };
      const timed: Timed = { dueAt: clock.now() + limits.turnWaitMs, expire: given };
      place.returning.push(given);
      deadlines.watch(timed);
      signal.addEventListener("abort", given, { once: true });
    });

  place.uses += 1;
  place.dueAt = Number.POSITIVE_INFINITY;
  if (isCall) place.calls += 1;
  activate();

  return {
    session: place.session,
    get active() {
      return active;
    },
    takeReset() {
      const { lost } = place.group;
      place.group.lost = false;
      return lost;
    },
    rest,
    wake(inTurn, signal) {
      if (inTurn && askable && place.askable > 0) return waitForTurn(signal);
      activate();
      return undefined;
    },
    release() {
      if (released) return;
      rest();
      released = true;
      place.uses -= 1;
      if (isCall) place.calls -= 1;
      if (place.uses === 0) options.idle(place);
    },
  };
}
