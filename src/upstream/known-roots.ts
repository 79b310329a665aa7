import type { JsonText } from "../jsonrpc/json-text.js";
import type { RequestId } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import { coversRoots } from "../translation/roots.js";
import type { LegacySession } from "./legacy-session.js";
import { answerQuestion, type Question, refuseQuestion } from "./question.js";

interface Held {
  readonly question: Question;
  readonly stop: Stop;
  /** Runs while a request is in flight that cannot carry the question and may wait for its answer. */
  stopBlocking: Stop | undefined;
}

/** Roots that a server wants to know while no call of a client can be asked for them. */
export interface KnownRoots {
  /** A `roots/list` outside a call: answered from what is known, else kept for the next call. */
  ask(question: Question): void;
  /** The same during a request that cannot carry it and that waits for it: answered or refused. */
  askNow(question: Question): void;
  /** Takes the questions that wait for a call on this session. */
  take(session: LegacySession): readonly Question[];
  /** Gives back one that was taken. */
  keep(question: Question): void;
  /** A request is in flight that cannot carry questions. */
  blocked(session: LegacySession): void;
  /** What the client said. */
  learn(caller: Caller, result: JsonText): void;
  withdraw(session: LegacySession, id: RequestId): boolean;
  /** Did the server ask in vain, and does it work without roots since? */
  missed(session: LegacySession): boolean;
  sessionEnded(session: LegacySession): void;
  readonly held: number;
  close(): void;
}

export interface KnownRootsOptions {
  /** The `roots` array that the operator set. */
  readonly staticRoots: JsonText | undefined;
  readonly clientOf: (caller: Caller) => string;
  /** The exchanges in flight on a session. */
  readonly inFlight: (session: LegacySession) => Iterable<number>;
  readonly clock: Clock;
  readonly limits: Limits;
}

export function createKnownRoots(options: KnownRootsOptions): KnownRoots {
  const { staticRoots, clientOf, inFlight, clock, limits } = options;
  const answers = new Map<string, JsonText>();
  const held = new Map<LegacySession, Held[]>();
  const inVain = new WeakSet<LegacySession>();

  const known = ({ caller }: LegacySession): JsonText | undefined => {
    if (staticRoots !== undefined) return `{"roots":${staticRoots}}`;
    return caller.anonymous ? undefined : answers.get(clientOf(caller));
  };

  /** Forgets a held question; undefined when it is held no more. */
  const drop = (question: Question): Held | undefined => {
    const all = held.get(question.session) ?? [];
    const index = all.findIndex((entry) => entry.question === question);
    const [entry] = index < 0 ? [] : all.splice(index, 1);
    entry?.stop();
    entry?.stopBlocking?.();
    if (all.length === 0) held.delete(question.session);
    return entry;
  };

  const giveUp = (question: Question): void => {
    if (drop(question) === undefined) return;
    inVain.add(question.session);
    refuseQuestion(question, "roots are only available during a call");
  };

  /** A request that waits for roots itself must not wait for ever. */
  const watchBlocking = (entry: Held): void => {
    const { session } = entry.question;
    const waiting = new Set(inFlight(session));
    if (waiting.size === 0 || entry.stopBlocking !== undefined) return;
    entry.stopBlocking = clock.after(limits.rootsHoldMs, () => {
      entry.stopBlocking = undefined;
      if ([...inFlight(session)].some((id) => waiting.has(id))) giveUp(entry.question);
      else watchBlocking(entry);
    });
  };

  const keep = (question: Question): void => {
    const { session } = question;
    const entry: Held = {
      question,
      stop: clock.after(limits.parkMs, () => giveUp(question)),
      stopBlocking: undefined,
    };
    held.set(session, [...(held.get(session) ?? []), entry]);
    watchBlocking(entry);
  };

  const answerKnown = (question: Question): boolean => {
    const result = known(question.session);
    if (result !== undefined) answerQuestion(question, result);
    return result !== undefined;
  };

  return {
    ask(question) {
      if (answerKnown(question)) return;
      if (coversRoots(question.session.caller.capabilities)) keep(question);
      else refuseQuestion(question, "the client has no roots");
    },
    askNow(question) {
      if (answerKnown(question)) return;
      refuseQuestion(question, "roots are not available during this request");
    },
    take(session) {
      const entries = [...(held.get(session) ?? [])];
      for (const { question } of entries) drop(question);
      return entries.map(({ question }) => question);
    },
    keep(question) {
      if (question.session.state === "ready" && !answerKnown(question)) keep(question);
    },
    blocked(session) {
      for (const entry of held.get(session) ?? []) watchBlocking(entry);
    },
    learn(caller, result) {
      if (caller.anonymous) return;
      const client = clientOf(caller);
      answers.delete(client);
      answers.set(client, result);
      if (answers.size <= limits.maxSessions) return;
      for (const oldest of answers.keys()) {
        answers.delete(oldest);
        break;
      }
    },
    withdraw(session, id) {
      const entry = held.get(session)?.find(({ question }) => question.id === id);
      if (entry === undefined) return false;
      inVain.add(session);
      return drop(entry.question) !== undefined;
    },
    missed: (session) => inVain.has(session),
    sessionEnded(session) {
      for (const { question } of [...(held.get(session) ?? [])]) drop(question);
    },
    get held() {
      let sum = 0;
      for (const entries of held.values()) sum += entries.length;
      return sum;
    },
    close() {
      for (const session of [...held.keys()]) {
        for (const { question } of [...(held.get(session) ?? [])]) giveUp(question);
      }
    },
  };
}
