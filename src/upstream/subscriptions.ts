import { BridgeError } from "../errors.js";
import type { NotificationMessage } from "../jsonrpc/message.js";
import type { Caller, Principal } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import { type Interest, type Notices, RESOURCE_UPDATED } from "../model/notice.js";
import type { Acknowledgement } from "../model/service.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { isPartOfAny } from "../translation/subscriptions.js";
import type { LegacySession } from "./legacy-session.js";
import { createResourceSubscriptions } from "./resource-subscriptions.js";
import type { Lease, SessionPool } from "./session-pool.js";
import {
  type ChangeBuffer,
  canSubscribe,
  createChangeBuffer,
  everythingChanged,
  type Honoured,
  honouredLists,
  honouredText,
  uriOf,
} from "./watched-changes.js";

/** Who watches what on the sessions of one upstream. */
export interface Subscriptions {
  /** Rejects with BridgeError. */
  watch(
    interest: Interest,
    caller: Caller,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Acknowledgement>;
  /** A server reports a changed list or resource. */
  changed(session: LegacySession, message: NotificationMessage): void;
  /** The session is of no use any more: its watches move to another one. */
  sessionGone(session: LegacySession): void;
  readonly watchers: number;
  close(): void;
}

export interface SubscriptionsOptions {
  readonly name: string;
  readonly pool: SessionPool;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
}

interface Watcher {
  readonly interest: Interest;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly buffer: ChangeBuffer;
  readonly end: () => void;
  lease: Lease | undefined;
  honoured: Honoured;
  stopWaiting: Stop;
  over: boolean;
}

const NOTHING: Honoured = { lists: new Set(), uris: new Set() };

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { name, pool, clock, journal, limits } = options;
  const resources = createResourceSubscriptions({ clock, limits });
  const watchers = new Set<Watcher>();

  const leave = (watcher: Watcher): void => {
    const { lease, honoured } = watcher;
    watcher.lease = undefined;
    if (lease === undefined) return;
    for (const uri of honoured.uris) resources.remove(lease.session, uri);
    lease.release();
  };

  const end = (watcher: Watcher): void => {
    if (watcher.over) return;
    watcher.over = true;
    watchers.delete(watcher);
    watcher.stopWaiting();
    watcher.buffer.stop();
    leave(watcher);
    watcher.end();
  };

  /** Arranges everything on a session; what the server does not agree to is left out. */
  const settle = async (watcher: Watcher): Promise<void> => {
    const { caller, interest, signal } = watcher;
    const lease = await pool.acquire(caller, "first", false, signal);
    if (watcher.over) {
      lease.release();
      return;
    }
    const { session } = lease;
    const { capabilities } = session.advertisement;
    const wanted = canSubscribe(capabilities) ? [...new Set(interest.resourceSubscriptions)] : [];
    const lists = honouredLists(interest, capabilities);
    watcher.lease = lease;
    watcher.honoured = { lists, uris: new Set() };
    const agreed = await Promise.all(wanted.map((uri) => resources.add(session, uri)));
    const uris = wanted.filter((_, index) => agreed[index]);
    // The client or the session may have gone in the meantime.
    if (watcher.lease === lease) watcher.honoured = { lists, uris: new Set(uris) };
    else for (const uri of uris) resources.remove(session, uri);
  };

  const restore = async (watcher: Watcher, attempt: number): Promise<void> => {
    try {
      await settle(watcher);
      for (const notice of everythingChanged(watcher.honoured)) watcher.buffer.add(notice);
    } catch (error) {
      if (watcher.over) return;
      journal.warn("watch-not-restored", { upstream: name, attempt, error: String(error) });
      if (attempt >= limits.maxResumeAttempts) end(watcher);
      else {
        const pause = limits.restartPauseMs * 2 ** attempt;
        const ms = Math.min(pause, limits.restartPauseMaxMs);
        watcher.stopWaiting = clock.after(ms, () => void restore(watcher, attempt + 1));
      }
    }
  };

  const admit = (interest: Interest, principal: Principal): void => {
    const refuse = (limit: keyof Limits): never => {
      const text = `too many changes are watched: ${limit} is ${limits[limit]}`;
      throw new BridgeError("overloaded", text, { data: { limit } });
    };
    let own = 0;
    for (const { caller } of watchers) if (caller.principal === principal) own += 1;
    if (own >= limits.maxWatchesPerPrincipal) refuse("maxWatchesPerPrincipal");
    if (interest.resourceSubscriptions.length > limits.maxWatchedUris) refuse("maxWatchedUris");
  };

  /** Those whom a changed list concerns: every watcher of the principal, whatever its session. */
  const concerned = (session: LegacySession): readonly Watcher[] =>
    [...watchers].filter(({ caller, lease }) =>
      caller.anonymous || session.caller.anonymous
        ? lease?.session === session
        : caller.principal === session.caller.principal,
    );

  const updated = (session: LegacySession, message: NotificationMessage): void => {
    const uri = uriOf(message.params);
    const here = [...watchers].filter(
      ({ lease, honoured }) => lease?.session === session && honoured.uris.size > 0,
    );
    const exact = here.filter(({ honoured }) => honoured.uris.has(uri));
    const above =
      exact.length > 0 ? exact : here.filter(({ honoured }) => isPartOfAny(uri, honoured.uris));
    // What a server calls a part of a resource need not look like one.
    const receivers = above.length > 0 ? above : here;
    for (const { buffer } of receivers) buffer.add(message);
  };

  return {
    async watch(interest, caller, notices, signal) {
      admit(interest, caller.principal);
      let resolveEnded = (): void => {};
      const ended = new Promise<void>((resolve) => {
        resolveEnded = resolve;
      });
      const aborted = (): void => {
        // The client knows; only an end that comes from here is told.
        resolveEnded = () => {};
        end(watcher);
      };
      const watcher: Watcher = {
        interest,
        caller,
        signal,
        buffer: createChangeBuffer(clock, limits.changeCoalesceMs, notices),
        end() {
          signal.removeEventListener("abort", aborted);
          resolveEnded();
        },
        lease: undefined,
        honoured: NOTHING,
        stopWaiting: () => {},
        over: false,
      };
      watchers.add(watcher);
      signal.addEventListener("abort", aborted, { once: true });
      try {
        await settle(watcher);
      } catch (error) {
        end(watcher);
        throw error;
      }
      return { honoured: honouredText(watcher.honoured), ended };
    },
    changed(session, message) {
      const { method, params } = message;
      if (method === RESOURCE_UPDATED) updated(session, message);
      else {
        for (const { honoured, buffer } of concerned(session)) {
          if (honoured.lists.has(method)) buffer.add({ method, params });
        }
      }
    },
    sessionGone(session) {
      resources.sessionEnded(session);
      for (const watcher of [...watchers]) {
        if (watcher.lease?.session !== session) continue;
        const { lease } = watcher;
        watcher.lease = undefined;
        lease.release();
        void restore(watcher, 0);
      }
    },
    get watchers() {
      return watchers.size;
    },
    close() {
      for (const watcher of [...watchers]) end(watcher);
      resources.close();
    },
  };
}
