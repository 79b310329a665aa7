import type { Limits } from "../../model/limits.js";
import type { Clock, Stop } from "../../ports/clock.js";

/** Bounds what finished streams of all clients keep for those that may still come back. */
export interface ReplayBudget {
  /**
   * Counts a finished stream in. `drop` is called when its time is over or the room is needed for
   * newer ones; the returned function takes it out before that, without a call.
   */
  keep(size: number, drop: () => void): () => void;
  readonly size: number;
  close(): void;
}

interface Kept {
  readonly size: number;
  readonly until: number;
  readonly drop: () => void;
}

export function createReplayBudget(
  clock: Clock,
  limits: Pick<Limits, "maxReplayTotalBytes" | "replayMs">,
): ReplayBudget {
  /** Oldest first, since all are kept for the same time. */
  const kept = new Set<Kept>();
  let total = 0;
  let stop: Stop | undefined;

  const forget = (entry: Kept): boolean => {
    if (!kept.delete(entry)) return false;
    total -= entry.size;
    return true;
  };

  const expire = (): void => {
    stop = undefined;
    const now = clock.now();
    for (const entry of kept) {
      if (entry.until > now) {
        stop = clock.after(entry.until - now, expire);
        return;
      }
      if (forget(entry)) entry.drop();
    }
  };

  return {
    keep(size, drop) {
      const entry = { size, until: clock.now() + limits.replayMs, drop };
      kept.add(entry);
      total += size;
      for (const oldest of kept) {
        if (total <= limits.maxReplayTotalBytes || oldest === entry) break;
        if (forget(oldest)) oldest.drop();
      }
      stop ??= clock.after(limits.replayMs, expire);
      return () => {
        forget(entry);
      };
    },
    get size() {
      return total;
    },
    close() {
      stop?.();
      stop = undefined;
      kept.clear();
      total = 0;
    },
  };
}
