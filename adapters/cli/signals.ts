import { exitCodeOf } from "./exit-codes.js";

/**
 * Resolves with the first of the signals that ask a program to stop. A second one ends the process at
 * once; children are killed with it. `release` gives the signals back.
 */
export function awaitStop(signals: readonly NodeJS.Signals[]): {
  readonly stopped: Promise<NodeJS.Signals>;
  release(): void;
} {
  const off: (() => void)[] = [];
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    let asked = false;
    for (const signal of signals) {
      const listener = () => {
        if (asked) process.exit(exitCodeOf(signal));
        asked = true;
        resolve(signal);
      };
      process.on(signal, listener);
      off.push(() => process.off(signal, listener));
    }
  });
  return {
    stopped,
    release() {
      for (const remove of off) remove();
    },
  };
}
