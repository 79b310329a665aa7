import { createTurnoverSet } from "../model/turnover.js";
import type { Clock, Stop } from "../ports/clock.js";

/** Something that must be over by a time. */
export interface Timed {
  /** Milliseconds since the epoch; `Infinity` while its clock stands still. May move later freely. */
  dueAt: number;
  /** Called once, when the time has come; it is then no longer watched. */
  expire(): void;
}

export interface Deadlines {
  /** Starts watching, or watches anew after `dueAt` has moved earlier. */
  watch(timed: Timed): void;
  forget(timed: Timed): void;
  /** Stops the timer; nothing expires any more. */
  close(): void;
}

/**
 * Many deadlines behind one timer. Requests come and go far more often than they expire, so finishing
 * one touches no timer: a timer that fires early looks around and goes back to sleep.
 */
export function createDeadlines(clock: Clock): Deadlines {
  const watched = createTurnoverSet<Timed>();
  let stop: Stop | undefined;
  let firesAt = Number.POSITIVE_INFINITY;

  const sleepUntil = (at: number): void => {
    if (at >= firesAt) return;
    stop?.();
    firesAt = at;
    stop = clock.after(Math.max(0, at - clock.now()), look);
  };

  const look = (): void => {
    stop = undefined;
    firesAt = Number.POSITIVE_INFINITY;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    const over: Timed[] = [];
    for (const timed of watched) {
      if (timed.dueAt <= now) over.push(timed);
      else if (timed.dueAt < next) next = timed.dueAt;
    }
    if (next !== Number.POSITIVE_INFINITY) sleepUntil(next);
    for (const timed of over) if (watched.delete(timed)) timed.expire();
  };

  return {
    watch(timed) {
      watched.add(timed);
      sleepUntil(timed.dueAt);
    },
    forget(timed) {
      watched.delete(timed);
    },
    close() {
      watched.clear();
      stop?.();
      stop = undefined;
      firesAt = Number.POSITIVE_INFINITY;
    },
  };
}
