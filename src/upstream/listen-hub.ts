import { BridgeError } from "../errors.js";
import type { Caller } from "../model/caller.js";
import type { Interest, Notice, Notices } from "../model/notice.js";
import type { Acknowledgement } from "../model/service.js";
import { isForeign } from "./listen-filter.js";
import { createListenGroup, type ListenGroup, type ListenGroupDeps } from "./listen-group.js";

/** The watches of all callers on one modern server, with few subscriptions behind them. */
export interface ListenHub {
  /** As `Service.watch`. */
  watch(
    interest: Interest,
    caller: Caller,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Acknowledgement>;
  /** Callers with a watch. */
  readonly groups: number;
  close(): void;
}

/**
 * All watches of a principal share one subscription. A watch whose filter has members that only its
 * sender knows, or whose sender cannot be told from others, has one of its own.
 */
export function createListenHub(deps: ListenGroupDeps): ListenHub {
  const groups = new Map<string, ListenGroup>();
  let serial = 0;
  let closed = false;

  const keyOf = (interest: Interest, caller: Caller): string => {
    if (!caller.anonymous && !isForeign(interest)) return `shared\n${caller.principal}`;
    serial += 1;
    return `own\n${serial}`;
  };

  const groupOf = (key: string): ListenGroup => {
    const known = groups.get(key);
    if (known !== undefined) return known;
    const group = createListenGroup(deps, () => groups.delete(key));
    groups.set(key, group);
    return group;
  };

  return {
    watch(interest, caller, notices, signal) {
      if (closed) {
        return Promise.reject(new BridgeError("closed", "the bridge is shutting down"));
      }
      if (signal.aborted) {
        return Promise.reject(new BridgeError("cancelled", "nobody watches any more"));
      }
      const quiet = (notice: Notice): void => {
        if (!signal.aborted) notices(notice);
      };
      return groupOf(keyOf(interest, caller)).join({ interest, caller, notices: quiet, signal });
    },
    get groups() {
      return groups.size;
    },
    close() {
      closed = true;
      for (const group of [...groups.values()]) group.close();
    },
  };
}
