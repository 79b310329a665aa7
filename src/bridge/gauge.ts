import type { Interceptor } from "../model/service.js";
import type { Clock } from "../ports/clock.js";

/** Counts the requests that are on their way, so that a bridge can stop between two of them. */
export interface Gauge {
  readonly interceptor: Interceptor;
  open(): number;
  /** Resolves when nothing is on its way, or after `ms`. */
  idle(ms: number): Promise<void>;
}

export function createGauge(clock: Clock): Gauge {
  let open = 0;
  let whenIdle: (() => void) | undefined;

  const left = (): void => {
    open -= 1;
    if (open === 0) whenIdle?.();
  };

  return {
    interceptor: (next) => ({
      ...next,
      relay(operation, notices, signal) {
        open += 1;
        const outcome = next.relay(operation, notices, signal);
        outcome.then(left, left);
        return outcome;
      },
    }),
    open: () => open,
    idle(ms) {
      if (open === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          stop();
          whenIdle = undefined;
          resolve();
        };
        const stop = clock.after(ms, done);
        whenIdle = done;
      });
    },
  };
}
