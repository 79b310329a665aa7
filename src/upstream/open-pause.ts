import { BridgeError } from "../errors.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";

/** Keeps a server that cannot be opened from being opened again and again. */
export interface OpenPause {
  /** Throws what the last attempt failed with while its pause lasts. */
  check(): void;
  failed(error: unknown): void;
  opened(): void;
  /** It has worked: the next failure starts with the shortest pause again. */
  recovered(): void;
}

export function createOpenPause(clock: Clock, limits: Limits): OpenPause {
  let pauseMs = 0;
  let until = 0;
  let last: unknown;

  return {
    check() {
      const left = until - clock.now();
      if (left <= 0) return;
      if (!(last instanceof BridgeError)) throw last;
      const data = { ...last.data, retryAfterMs: left };
      const { challenge } = last;
      throw new BridgeError(last.code, last.message, { cause: last, data, challenge });
    },
    failed(error) {
      pauseMs = Math.min(
        pauseMs === 0 ? limits.restartPauseMs : 2 * pauseMs,
        limits.restartPauseMaxMs,
      );
      until = clock.now() + pauseMs;
      last = error;
    },
    opened() {
      until = 0;
    },
    recovered() {
      pauseMs = 0;
    },
  };
}
