import type { Principal } from "../model/caller.js";

/** Counts what each principal has open, up to a limit. */
export interface InFlight {
  /** False when the principal is at the limit; nothing is counted then. */
  enter(principal: Principal): boolean;
  leave(principal: Principal): void;
}

export function createInFlight(limit: number): InFlight {
  const counts = new Map<Principal, number>();
  return {
    enter: (principal) => {
      const count = counts.get(principal) ?? 0;
      if (count >= limit) return false;
      counts.set(principal, count + 1);
      return true;
    },
    leave: (principal) => {
      const count = (counts.get(principal) ?? 1) - 1;
      if (count > 0) counts.set(principal, count);
      else counts.delete(principal);
    },
  };
}
