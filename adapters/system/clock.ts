import type { Clock } from "../../src/index.js";

/** Node takes longer delays for 1 ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** The machine's clock. Its timers do not keep the process alive. */
export function createSystemClock(): Clock {
  return { now: () => Date.now(), after };
}

function after(ms: number, callback: () => void): () => void {
  let rest = ms;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const delay = Math.min(rest, LONGEST_DELAY_MS);
    rest -= delay;
    timer = setTimeout(rest > 0 ? arm : callback, delay);
    timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}
