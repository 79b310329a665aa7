import type { Clock } from "../ports/clock.js";

/** Waits; resolves early when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const wake = (): void => {
      stop();
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const stop = clock.after(ms, wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}

/** What the promise brings, or undefined when it takes longer. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(ms, () => resolve(undefined));
    promise.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Pauses that double up to a maximum. */
export interface Backoff {
  next(): number;
  reset(): void;
}

export function createBackoff(firstMs: number, maxMs: number): Backoff {
  let nextMs = firstMs;
  return {
    next() {
      const ms = nextMs;
      nextMs = Math.min(nextMs * 2, maxMs);
      return ms;
    },
    reset() {
      nextMs = firstMs;
    },
  };
}
