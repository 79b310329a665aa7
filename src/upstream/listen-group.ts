import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Interest, Notice, Notices } from "../model/notice.js";
import type { Acknowledgement } from "../model/service.js";
import type { Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import {
  contains,
  filterText,
  intersection,
  isForeign,
  readHonoured,
  receiversOf,
  union,
  wanted,
} from "./listen-filter.js";
import { type ListenStream, type ListenStreamDeps, openListenStream } from "./listen-stream.js";
import { everythingChanged, type Honoured } from "./watched-changes.js";

export interface ListenGroupDeps extends ListenStreamDeps {
  readonly journal: Journal;
  readonly limits: Limits;
}

export interface ListenWatch {
  readonly interest: Interest;
  readonly caller: Caller;
  readonly notices: Notices;
  readonly signal: AbortSignal;
}

/** Watches that share one subscription. */
export interface ListenGroup {
  join(watch: ListenWatch): Promise<Acknowledgement>;
  close(): void;
}

interface Member extends ListenWatch {
  readonly filter: Honoured;
  readonly resolve: (acknowledgement: Acknowledgement) => void;
  readonly reject: (error: unknown) => void;
  readonly end: () => void;
  readonly ended: Promise<void>;
  acknowledged: boolean;
}

/** What the server has agreed to, and for which filter. */
interface Standing {
  readonly stream: ListenStream;
  readonly asked: Honoured;
  readonly honoured: Honoured;
}

/** `onEmpty` is called when the last watch has gone; the group is of no use then. */
export function createListenGroup(deps: ListenGroupDeps, onEmpty: () => void): ListenGroup {
  const { name, clock, journal, limits } = deps;
  const members = new Set<Member>();
  let standing: Standing | undefined;
  let standsSince = 0;
  let opening = false;
  let missed = false;
  let failures = 0;
  let stopTimer: Stop | undefined;

  const clearTimer = (): void => {
    stopTimer?.();
    stopTimer = undefined;
  };

  const remove = (member: Member): void => {
    if (!members.delete(member)) return;
    if (members.size > 0) return;
    clearTimer();
    standing?.stream.close();
    standing = undefined;
    onEmpty();
  };

  const route = (notice: Notice): void => {
    const told = [...members].filter(({ acknowledged }) => acknowledged);
    for (const { notices } of receiversOf(notice, told)) notices(notice);
  };

  const acknowledge = (member: Member, { stream, honoured }: Standing): void => {
    if (member.acknowledged) return;
    member.acknowledged = true;
    const agreed = isForeign(member.interest)
      ? stream.honoured
      : filterText(intersection(member.filter, honoured));
    member.resolve({ honoured: agreed, ended: member.ended });
  };

  const stands = (stream: ListenStream, asked: Honoured): void => {
    const before = standing;
    const current = { stream, asked, honoured: readHonoured(stream.honoured) };
    standing = current;
    standsSince = clock.now();
    // From here on only the new stream speaks: what both bring is told once, and nothing is lost.
    stream.deliverTo((notice) => {
      if (standing === current) route(notice);
    });
    before?.stream.close();
    for (const member of members) {
      if (!member.acknowledged) acknowledge(member, current);
      else if (missed) tellAll(member, current);
    }
    missed = false;
    void stream.ended.then(() => {
      if (standing === current) lost();
    });
  };

  /** A watcher that may have missed something is told that everything changed. */
  const tellAll = ({ filter, notices }: Member, { honoured }: Standing): void => {
    for (const notice of everythingChanged(intersection(filter, honoured))) notices(notice);
  };

  const lost = (): void => {
    standing = undefined;
    missed = true;
    if (clock.now() - standsSince >= limits.resumePauseMaxMs) failures = 0;
    retry();
  };

  const retry = (): void => {
    if (members.size === 0 || opening || stopTimer !== undefined) return;
    if (failures >= limits.maxResumeAttempts) {
      journal.warn("listen-given-up", { upstream: name });
      endAll();
      return;
    }
    const ms = Math.min(limits.resumePauseMs * 2 ** failures, limits.resumePauseMaxMs);
    failures += 1;
    wait(ms);
  };

  const wait = (ms: number): void => {
    stopTimer = clock.after(ms, () => {
      stopTimer = undefined;
      void open();
    });
  };

  const endAll = (): void => {
    for (const member of [...members]) {
      member.end();
      remove(member);
    }
  };

  const open = async (): Promise<void> => {
    if (opening) return;
    const all = [...members];
    const newest = all.at(-1);
    if (newest === undefined) return;
    opening = true;
    const asked = union(all.map(({ filter }) => filter));
    const text: JsonText = isForeign(newest.interest) ? newest.interest.text : filterText(asked);
    try {
      const stream = await openListenStream(text, newest.caller, deps);
      opening = false;
      if (members.size === 0) stream.close();
      else stands(stream, asked);
    } catch (error) {
      opening = false;
      refuse(error);
    }
    review();
  };

  /** Who waited for this attempt hears that it failed; who was served before is served again later. */
  const refuse = (error: unknown): void => {
    for (const member of [...members]) {
      if (member.acknowledged) continue;
      member.reject(error);
      remove(member);
    }
    if (standing === undefined) retry();
  };

  const review = (): void => {
    const waiting = [...members].filter(({ acknowledged }) => !acknowledged);
    if (opening || waiting.length === 0) return;
    const current = standing;
    if (current === undefined) {
      clearTimer();
      void open();
    } else if (waiting.every(({ filter }) => contains(current.asked, filter))) {
      for (const member of waiting) acknowledge(member, current);
    } else if (stopTimer === undefined) wait(limits.listenSettleMs);
  };

  return {
    join(watch) {
      return new Promise((resolve, reject) => {
        let end: () => void = () => {};
        const ended = new Promise<void>((over) => {
          end = over;
        });
        const filter = wanted(watch.interest);
        const member: Member = {
          ...watch,
          filter,
          resolve,
          reject,
          end,
          ended,
          acknowledged: false,
        };
        members.add(member);
        const leave = (): void => {
          if (!member.acknowledged) {
            reject(new BridgeError("cancelled", "nobody watches any more"));
          }
          remove(member);
        };
        watch.signal.addEventListener("abort", leave, { once: true });
        review();
      });
    },
    close() {
      for (const member of members) {
        if (!member.acknowledged)
          member.reject(new BridgeError("closed", "the bridge is shutting down"));
      }
      endAll();
    },
  };
}
