import type { JsonText } from "../jsonrpc/json-text.js";
import type { RequestId } from "../jsonrpc/message.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { covers } from "../translation/lower.js";
import { createAskingHabits } from "./asking-habits.js";
import type { Calls } from "./calls.js";
import { type LegacyCall, remark } from "./legacy-call.js";
import type { LegacySession } from "./legacy-session.js";
import { dismissQuestion, type Question, refuseQuestion } from "./question.js";

/** How a question that belongs to no request on the wire finds the call that caused it. */
export type AttributionPolicy = "adaptive" | "exclusive";

/** Finds the call that caused a question of the server. */
export interface Attribution {
  /** `origin`: the request on whose own answer stream it came, where the link tells. */
  asked(question: Question, origin: number | undefined): void;
  /** Must calls that may ask something run one at a time? */
  readonly turnsRequired: boolean;
  /** False for calls of a kind that has been seen to ask nothing, unless the policy trusts no habits. */
  mayAsk(call: LegacyCall): boolean;
  /** The server has answered the call with a result. */
  answered(call: LegacyCall, result: JsonText): void;
  /** A call occupies its session no more. */
  left(call: LegacyCall, session: LegacySession): void;
  withdraw(session: LegacySession, id: RequestId): boolean;
  sessionEnded(session: LegacySession): void;
  readonly held: number;
  close(): void;
}

export interface AttributionOptions {
  readonly name: string;
  readonly policy: AttributionPolicy;
  readonly calls: Calls;
  readonly ask: (call: LegacyCall, question: Question) => void;
  /** Roots asked outside a call, or during a request that cannot carry the question. */
  readonly roots: { ask(question: Question): void; askNow(question: Question): void };
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
}

interface Held {
  readonly question: Question;
  /** Calls that may have caused it and have not ended. */
  readonly candidates: Set<LegacyCall>;
  readonly stop: Stop;
}

function byOrder(a: LegacyCall, b: LegacyCall): number {
  return a.order - b.order;
}

/** The newest call, rather one that is not asked something already: most calls ask one thing at a time. */
function bestGuess(candidates: Iterable<LegacyCall>): LegacyCall | undefined {
  const inOrder = [...candidates].sort(byOrder);
  const unasked = inOrder.filter(({ dialogue }) => (dialogue?.questions.size ?? 0) === 0);
  return unasked.at(-1) ?? inOrder.at(-1);
}

/**
 * A question on the answer stream of a call belongs to that call. Elsewhere it belongs to the one call
 * of its session that is at work and may be asked it, or to the one that is parked where none is at
 * work; with several, roots are asked of the oldest, and other questions wait for one to remain. Calls
 * of other sessions, and so of other principals, never count.
 */
export function createAttribution(options: AttributionOptions): Attribution {
  const { name, calls, roots, clock, journal, limits } = options;
  const held = new Set<Held>();
  const habits = createAskingHabits();
  /** A question could not be attributed by the calls alone: from now on nobody shall have to guess. */
  const exclusive = options.policy === "exclusive";
  let interactive = exclusive;

  const ask = (call: LegacyCall, question: Question): void => {
    if (question.method !== "roots/list") habits.mayAsk(call);
    options.ask(call, question);
  };

  const outside = (question: Question): void => {
    if (question.method === "roots/list") roots.ask(question);
    else {
      journal.info("unsolicited-question", { upstream: name, method: question.method });
      refuseQuestion(question, "client input is only available during a call");
    }
  };

  const put = (call: LegacyCall, question: Question): void => {
    const { method, params } = question;
    const knowsRoots = method !== "roots/list" || covers(call.caller.capabilities, method, params);
    if (knowsRoots) ask(call, question);
    // A server without roots has its own way on, as it would have with a client of its own era.
    else roots.askNow(question);
  };

  const during = (call: LegacyCall | undefined, question: Question): void => {
    if (call !== undefined && mayRequireInput(call.method)) put(call, question);
    else if (question.method === "roots/list") roots.askNow(question);
    else refuseQuestion(question, "client input is not available during this request");
  };

  const release = (entry: Held): void => {
    entry.stop();
    held.delete(entry);
  };

  const hold = (question: Question, candidates: readonly LegacyCall[]): void => {
    for (const call of candidates) habits.mayAsk(call);
    journal.warn("question-held", { upstream: name, candidates: candidates.length });
    const entry: Held = {
      question,
      candidates: new Set(candidates),
      stop: clock.after(limits.attributionHoldMs, () => {
        release(entry);
        const newest = bestGuess(entry.candidates);
        if (newest === undefined) return;
        journal.warn("attribution-uncertain", { upstream: name, method: question.method });
        remark(newest, {
          code: "attribution-uncertain",
          message: "several calls were under way; a question may belong to another one of them",
        });
        ask(newest, question);
      }),
    };
    held.add(entry);
  };

  const attribute = (question: Question): void => {
    const { session, method, params } = question;
    const running = [...calls.of(session).values()].filter((call) => mayRequireInput(call.method));
    const willing = running.filter((call) => covers(call.caller.capabilities, method, params));
    // A server that waits for the answers of a parked call hardly asks on for it meanwhile.
    const active = willing.filter(({ lease }) => lease?.active === true);
    const able = active.length > 0 ? active : willing;
    const [first] = able.sort(byOrder);
    const [only] = running;
    if (first === undefined) {
      // An only call that did not declare the capability hears of it; with several nobody is blamed.
      if (only === undefined) outside(question);
      else if (running.length === 1) put(only, question);
      else if (method === "roots/list") roots.askNow(question);
      else refuseQuestion(question, "the client did not declare this capability");
    } else if (able.length === 1 || method === "roots/list") ask(first, question);
    else choose(question, able);
  };

  /** Of several calls: the only one that is not known to ask nothing, else whichever remains. */
  const choose = (question: Question, able: readonly LegacyCall[]): void => {
    interactive = true;
    const likely = able.filter((call) => !habits.isQuiet(call));
    const [only] = likely;
    if (only !== undefined && likely.length === 1) ask(only, question);
    else hold(question, likely.length > 0 ? likely : able);
  };

  const settle = (entry: Held): void => {
    const [only] = entry.candidates;
    if (entry.candidates.size > 1) return;
    release(entry);
    if (only === undefined) dismissQuestion(entry.question, "the call is over");
    else ask(only, entry.question);
  };

  return {
    asked(question, origin) {
      const { session, task } = question;
      const open = calls.of(session);
      const owner =
        task === undefined
          ? undefined
          : [...calls.all].find((call) => call.task === task && call.lease?.session === session);
      if (owner !== undefined) put(owner, question);
      else if (origin !== undefined) during(open.get(origin), question);
      else attribute(question);
    },
    get turnsRequired() {
      return interactive;
    },
    mayAsk: (call) => exclusive || !habits.isQuiet(call),
    answered: habits.answered,
    left(call, session) {
      for (const entry of [...held]) {
        if (entry.question.session === session && entry.candidates.delete(call)) settle(entry);
      }
    },
    withdraw(session, id) {
      for (const entry of held) {
        if (entry.question.session !== session || entry.question.id !== id) continue;
        release(entry);
        return true;
      }
      return false;
    },
    sessionEnded(session) {
      for (const entry of [...held]) if (entry.question.session === session) release(entry);
    },
    get held() {
      return held.size;
    },
    close() {
      for (const entry of [...held]) {
        release(entry);
        dismissQuestion(entry.question, "the bridge is shutting down");
      }
    },
  };
}
