import type { Principal } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { CallEnd, LegacyCall } from "./legacy-call.js";

/** Calls that a client may come back to, and for a while how those ended that it cannot. */
export interface ParkedTable {
  /** Takes a slot for the call; false when the principal or the bridge has none left. */
  enter(callId: string, call: LegacyCall): boolean;
  get(callId: string): LegacyCall | undefined;
  /** Frees the slot. */
  end(callId: string, end: CallEnd): void;
  /** How a call ended; undefined when it is unknown or was forgotten. */
  endOf(callId: string): CallEnd | undefined;
  readonly size: number;
}

export function createParkedTable(limits: Limits): ParkedTable {
  const calls = new Map<string, LegacyCall>();
  /** Of whom each slot is: the caller of a call may change its claims, never its principal. */
  const slots = new Map<Principal, number>();
  const ends = new Map<string, CallEnd>();

  return {
    enter(callId, call) {
      const { principal } = call.caller;
      const own = slots.get(principal) ?? 0;
      if (calls.size >= limits.maxParked || own >= limits.maxParkedPerPrincipal) return false;
      slots.set(principal, own + 1);
      calls.set(callId, call);
      return true;
    },
    get: (callId) => calls.get(callId),
    end(callId, end) {
      const call = calls.get(callId);
      if (call === undefined) return;
      calls.delete(callId);
      const { principal } = call.caller;
      const left = (slots.get(principal) ?? 1) - 1;
      if (left === 0) slots.delete(principal);
      else slots.set(principal, left);
      ends.set(callId, end);
      if (ends.size <= limits.maxParked) return;
      for (const oldest of ends.keys()) {
        ends.delete(oldest);
        break;
      }
    },
    endOf: (callId) => ends.get(callId),
    get size() {
      return calls.size;
    },
  };
}
