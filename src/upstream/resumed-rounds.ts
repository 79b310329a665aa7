import type { JsonText } from "../jsonrpc/json-text.js";
import { readInputResponses } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Notices } from "../model/notice.js";
import type { Failed, Operation, Outcome } from "../model/operation.js";
import type { Journal } from "../ports/journal.js";
import { deliverKept } from "./call-notices.js";
import type { Calls } from "./calls.js";
import { firstProblem, readAnswers } from "./dialogue.js";
import { type Dialogue, type LegacyCall, moveCall, type OpenQuestion } from "./legacy-call.js";
import type { ParkedRounds, ParkedRoundsHooks } from "./parked-rounds.js";
import type { ParkedTable } from "./parked-table.js";
import { dismissQuestion, sendAnswer } from "./question.js";
import type { SealedStates } from "./sealed-state.js";
import { refuseAnswers, refuseState, type StateRefusal } from "./state-refusal.js";

export interface ResumedRoundsOptions {
  readonly name: string;
  readonly calls: Calls;
  readonly table: ParkedTable;
  readonly rounds: ParkedRounds;
  readonly states: SealedStates;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly told: ParkedRoundsHooks["told"];
  /** Must calls that can be asked run one at a time? */
  readonly inTurn: () => boolean;
  /** A call has a new round, which may want other log messages. */
  readonly attached: (call: LegacyCall) => void;
}

/** A round of a client that comes back with a `requestState`. Never rejects. */
export type ResumeRound = (
  operation: Operation,
  notices: Notices,
  signal: AbortSignal,
) => Promise<Outcome>;

interface Resumable {
  readonly call: LegacyCall;
  readonly dialogue: Dialogue;
  readonly given: ReadonlyMap<string, JsonText>;
}

/** Takes answers of clients into parked calls, each round once. */
export function createResumedRounds(options: ResumedRoundsOptions): ResumeRound {
  const { name, calls, table, rounds, states, journal, limits, told, inTurn, attached } = options;

  const refuse = (reason: StateRefusal, foreign = false): Failed => {
    if (foreign) journal.warn("foreign-request-state", { upstream: name });
    else journal.info("request-state-refused", { upstream: name, reason });
    return refuseState(reason);
  };

  /** What the round resumes, or why it cannot; a refusal consumes nothing. */
  const find = ({ answers, method, params, caller }: Operation): Resumable | Failed => {
    const request = { method, params, principal: caller.principal };
    const opened = states.open(answers?.continuation ?? "", request);
    if (opened.type === "problem") return refuse(opened.problem, opened.foreign);
    const call = table.get(opened.callId);
    const dialogue = call?.dialogue;
    if (call === undefined || dialogue === undefined) {
      return refuse(table.endOf(opened.callId) ?? "lost");
    }
    const away = call.state === "parked" || call.state === "kept";
    if (!away || dialogue.round !== opened.round) return refuse("consumed");
    if (readAnswers(answers?.responses) === "malformed") {
      return refuseAnswers("inputResponses must be an object of objects");
    }
    const given = readInputResponses(answers?.responses);
    const bad = firstProblem(dialogue.questions.values(), given);
    if (bad !== undefined)
      return refuseAnswers(`inputResponses.${bad.key}: ${bad.problem}`, bad.key);
    return { call, dialogue, given };
  };

  const goUnanswered = (call: LegacyCall, dialogue: Dialogue, open: OpenQuestion): void => {
    open.unanswered += 1;
    if (open.unanswered < limits.maxUnansweredRounds) return;
    dialogue.questions.delete(open.key);
    if (open.reverse === undefined) told(call, open, '{"action":"cancel"}');
    else dismissQuestion(open.reverse, "the client gave no answer");
  };

  const deliver = ({ call, dialogue, given }: Resumable): void => {
    // A server may ask again as soon as it has one answer: only what was open before is answered.
    for (const open of [...dialogue.questions.values()]) {
      if (!open.asked || !dialogue.questions.has(open.key)) continue;
      const answer = given.get(open.key);
      if (answer === undefined) goUnanswered(call, dialogue, open);
      else {
        dialogue.questions.delete(open.key);
        if (open.reverse === undefined || sendAnswer(open.reverse, answer))
          told(call, open, answer);
      }
    }
    rounds.goOn(call);
  };

  const goOn = (found: Resumable): void => {
    const { call } = found;
    if (call.state !== "running") return;
    if (call.exchange !== undefined) call.lease?.session.conversation.resume(call.exchange);
    deliverKept(call);
    deliver(found);
  };

  return (operation, notices, signal) => {
    const found = find(operation);
    if ("type" in found) return Promise.resolve(found);
    const { call, dialogue } = found;
    dialogue.stop();
    dialogue.stopExpiry();
    if (call.state === "kept") return calls.handOver(call, operation, notices, signal);
    moveCall(call, "resumed");
    const outcome = calls.attach(call, operation, notices, signal);
    attached(call);
    const turn = call.lease?.wake(inTurn(), signal);
    if (turn === undefined) goOn(found);
    else void turn.then(() => goOn(found));
    return outcome;
  };
}
