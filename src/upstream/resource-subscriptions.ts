import { quote } from "../jsonrpc/json-text.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import { askServer } from "./legacy-conversation.js";
import type { LegacySession } from "./legacy-session.js";

/** Which resources are subscribed on which session, however many watch them. */
export interface ResourceSubscriptions {
  /** One more watches; resolves to whether the server agreed, false also when it takes too long. */
  add(session: LegacySession, uri: string): Promise<boolean>;
  /** One watches no more; the last one unsubscribes, after a while. */
  remove(session: LegacySession, uri: string): void;
  sessionEnded(session: LegacySession): void;
  close(): void;
}

interface Entry {
  watchers: number;
  readonly agreed: Promise<boolean>;
  stop: Stop | undefined;
}

export interface ResourceSubscriptionsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
}

export function createResourceSubscriptions(
  options: ResourceSubscriptionsOptions,
): ResourceSubscriptions {
  const { clock, limits } = options;
  const sessions = new Map<LegacySession, Map<string, Entry>>();
  const times = { timeoutMs: limits.subscribeWaitMs, ceilingMs: limits.subscribeWaitMs };

  const entriesOf = (session: LegacySession): Map<string, Entry> => {
    const known = sessions.get(session);
    if (known !== undefined) return known;
    const entries = new Map<string, Entry>();
    sessions.set(session, entries);
    return entries;
  };

  const ask = async (session: LegacySession, method: string, uri: string): Promise<boolean> => {
    const { conversation } = session;
    const answer = await askServer(conversation, method, `{"uri":${quote(uri)}}`, times);
    return answer.type === "result";
  };

  const forget = (session: LegacySession, uri: string, entry: Entry): void => {
    const entries = sessions.get(session);
    if (entries?.get(uri) !== entry) return;
    entry.stop?.();
    entries.delete(uri);
    if (entries.size === 0) sessions.delete(session);
  };

  const subscribe = (session: LegacySession, uri: string): Entry => {
    const agreed = ask(session, "resources/subscribe", uri);
    const entry: Entry = { watchers: 0, agreed, stop: undefined };
    void agreed.then((agrees) => {
      if (!agrees) forget(session, uri, entry);
    });
    entriesOf(session).set(uri, entry);
    return entry;
  };

  const clear = (session: LegacySession): void => {
    for (const { stop } of sessions.get(session)?.values() ?? []) stop?.();
    sessions.delete(session);
  };

  return {
    add(session, uri) {
      const entry = sessions.get(session)?.get(uri) ?? subscribe(session, uri);
      entry.watchers += 1;
      entry.stop?.();
      entry.stop = undefined;
      return entry.agreed;
    },
    remove(session, uri) {
      const entry = sessions.get(session)?.get(uri);
      if (entry === undefined) return;
      entry.watchers -= 1;
      if (entry.watchers > 0) return;
      entry.stop = clock.after(limits.unsubscribeGraceMs, () => {
        forget(session, uri, entry);
        if (session.state === "ready") void ask(session, "resources/unsubscribe", uri);
      });
    },
    sessionEnded: clear,
    close() {
      for (const session of [...sessions.keys()]) clear(session);
    },
  };
}
