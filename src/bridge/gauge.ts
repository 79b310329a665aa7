import type { Interceptor } from "../model/service.js";
import type { Clock } from "../ports/clock.js";

/** Counts the requests that are on their way, so that a bridge can stop between two of them. */
export interface Gauge {
  /** Counts what goes through the service. */
  readonly interceptor: Interceptor;
  /** Counts a request that goes another way; the result is called once, when it is over. */
  enter(): () => void;
  open(): number;
  /** Resolves when nothing is on its way, or after `ms`. */
  idle(ms: number): Promise<void>;
}

export function createGauge(clock: Clock): Gauge {
  const waiting = new Set<() => void>();
  let open = 0;

  const leave = (): void => {
    open -= 1;
    if (open > 0) return;
    for (const done of [...waiting]) done();
  };

  const enter = (): (() => void) => {
    open += 1;
    return leave;
  };

  return {
    interceptor: (next) => ({
      ...next,
      relay(operation, notices, signal) {
        enter();
        const outcome = next.relay(operation, notices, signal);
        outcome.then(leave, leave);
        return outcome;
      },
    }),
    enter,
    open: () => open,
    idle(ms) {
      if (open === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          stop();
          waiting.delete(done);
          resolve();
        };
        const stop = clock.after(ms, done);
        waiting.add(done);
      });
    },
  };
}
