import type { Clock } from "../../src/index.js";

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves time on and fires what falls due, in order of due time. Promises settle afterwards. */
  advance(ms: number): void;
  /** Like `advance`, but lets promises settle before the first, between and after the callbacks. */
  pass(ms: number): Promise<void>;
  /** Timers neither fired nor stopped; a test that ends with some has found a leak. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

export function createManualClock(start = 1_000_000): ManualClock {
  let now = start;
  const timers = new Set<Timer>();

  const fireNext = (until: number): boolean => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer;
    }
    if (next === undefined) return false;
    timers.delete(next);
    now = Math.max(now, next.due);
    next.callback();
    return true;
  };

  return {
    now: () => now,
    after(ms, callback) {
      const timer: Timer = { due: now + Math.max(0, ms), callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      while (fireNext(until));
      now = until;
    },
    async pass(ms) {
      const until = now + ms;
      await settle();
      while (fireNext(until)) await settle();
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Lets every promise that can settle without time or I/O do so. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
