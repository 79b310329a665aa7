import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { NotificationMessage, RequestMessage } from "../jsonrpc/message.js";
import type { Advertisement } from "../model/advertisement.js";
import type { Caller } from "../model/caller.js";
import type { LegacyRevision } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { liftAdvertisement } from "../translation/advertisement.js";
import type { Deadlines } from "./deadlines.js";
import {
  type ConversationEvents,
  createLegacyConversation,
  type LegacyConversation,
} from "./legacy-conversation.js";
import { type Handshake, shakeHands } from "./legacy-handshake.js";
import { type SessionEvent, type SessionState, sessionAfter } from "./legacy-state.js";
import type { Link } from "./link.js";

/** What a session's server says by itself, once the session is ready. */
export interface SessionEvents {
  asked(session: LegacySession, message: RequestMessage, origin: number | undefined): void;
  told(session: LegacySession, message: NotificationMessage, origin: number | undefined): void;
  /** The conversation is over. `expected`: the bridge ended it. The last call. */
  ended(session: LegacySession, detail: string, expected: boolean): void;
}

/** One session with a legacy server, from the end of its handshake to the end of its link. */
export interface LegacySession {
  /** Counts sessions of this upstream, for logs. */
  readonly serial: number;
  readonly state: SessionState;
  readonly conversation: LegacyConversation;
  readonly revision: LegacyRevision;
  /** What the server said of itself, as a modern server says it. */
  readonly advertisement: Advertisement;
  /** The `initialize` result as it came. */
  readonly handshake: JsonText;
  /** The caller for whom it was opened. */
  readonly caller: Caller;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  /** The server no longer knows the session: nothing new may start on it. */
  forget(): void;
  /** Ends it politely; resolves when nothing is left. */
  close(): Promise<void>;
}

export interface OpenSessionOptions {
  readonly serial: number;
  readonly name: string;
  readonly caller: Caller;
  readonly identity: JsonText;
  readonly openLink: (caller: Caller, signal: AbortSignal) => Promise<Link>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly events: SessionEvents;
}

/** Events of a conversation that waits for its session: kept until there is one. */
interface Relay extends ConversationEvents {
  handOver(to: ConversationEvents): void;
}

function createRelay(): Relay {
  let receiver: ConversationEvents | undefined;
  const kept: ((to: ConversationEvents) => void)[] = [];
  const pass = (event: (to: ConversationEvents) => void): void => {
    if (receiver === undefined) kept.push(event);
    else event(receiver);
  };
  return {
    asked: (message, origin) => pass((to) => to.asked(message, origin)),
    told: (message, origin) => pass((to) => to.told(message, origin)),
    ended: (detail) => pass((to) => to.ended(detail)),
    handOver(to) {
      receiver = to;
      for (const event of kept.splice(0)) event(to);
    },
  };
}

/** Opens a link and shakes hands on it. Rejects with BridgeError. */
export async function openLegacySession(options: OpenSessionOptions): Promise<LegacySession> {
  const { name, caller, openLink, signal, clock, deadlines, journal, limits } = options;
  const times = { timeoutMs: limits.requestTimeoutMs, ceilingMs: limits.requestCeilingMs };
  const start = { timeoutMs: limits.startTimeoutMs, ceilingMs: limits.startTimeoutMs };
  let relay = createRelay();
  const handshake = await shakeHands({
    caller,
    identity: options.identity,
    times: start,
    signal,
    open: async () => {
      const link = await openLink(caller, signal);
      if (signal.aborted) {
        await link.close();
        throw new BridgeError("closed", "the session is no longer wanted");
      }
      relay = createRelay();
      return createLegacyConversation({
        link,
        name,
        clock,
        deadlines,
        journal,
        times,
        // As many calls may wait for their client, or run, as ask one thing each.
        maxAsked: limits.maxInFlightPerPrincipal + limits.maxParkedPerPrincipal,
        events: relay,
      });
    },
  });
  return toSession(options, handshake, relay);
}

function toSession(
  { serial, name, caller, clock, journal, events }: OpenSessionOptions,
  { conversation, revision, result }: Handshake,
  relay: Relay,
): LegacySession {
  const { link } = conversation;
  let state: SessionState = "opening";
  let closing: Promise<void> | undefined;
  let told = link.listens;
  let advertisement = liftAdvertisement(result, { revision, listens: told });

  const apply = (event: SessionEvent): boolean => {
    const next = sessionAfter(state, event);
    if (next === undefined) return false;
    state = next;
    return true;
  };

  const end = (detail: string): void => {
    const expected = state === "closing";
    if (!apply("ended")) return;
    journal.info("session-ended", { upstream: name, session: serial, expected, detail });
    events.ended(session, detail, expected);
  };

  const session: LegacySession = {
    serial,
    conversation,
    revision,
    handshake: result,
    caller,
    openedAt: clock.now(),
    get state() {
      return state;
    },
    get advertisement() {
      // The stream for changes may come and go; what can be delivered is advertised.
      if (link.listens !== told) {
        told = link.listens;
        advertisement = liftAdvertisement(result, { revision, listens: told });
      }
      return advertisement;
    },
    forget() {
      apply("forgotten");
    },
    close() {
      apply("close");
      closing ??= link.close().then(() => end("closed"));
      return closing;
    },
  };

  apply("established");
  journal.info("session-opened", { upstream: name, session: serial, revision });
  relay.handOver({
    asked: (message, origin) => events.asked(session, message, origin),
    told: (message, origin) => events.told(session, message, origin),
    ended: end,
  });
  return session;
}
