import type { JsonText } from "../jsonrpc/json-text.js";
import type { RequestId } from "../jsonrpc/message.js";
import { readInputResponses } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import { inputResponseProblem } from "../translation/input-requests.js";
import { covers } from "../translation/lower.js";
import { CANCELLED, type Calls } from "./calls.js";
import { createDialogue, inputRequired, mintKey } from "./dialogue.js";
import {
  type CallEnd,
  type Dialogue,
  type LegacyCall,
  moveCall,
  type OpenQuestion,
  remark,
} from "./legacy-call.js";
import type { LegacySession } from "./legacy-session.js";
import { missingCapability } from "./missing-capability.js";
import type { ParkedTable } from "./parked-table.js";
import {
  dismissQuestion,
  type Question,
  refuseQuestion,
  refuseUndeclared,
  sendAnswer,
} from "./question.js";
import type { SealedStates } from "./sealed-state.js";

export interface ParkedRounds {
  /**
   * Puts a question of the server to the client of a call. `handBack` gets it back when the call ends
   * before it is answered, and the server goes on waiting.
   */
  ask(call: LegacyCall, question: Question, handBack?: (question: Question) => void): void;
  /** Puts questions that are no requests of the server's own; false when no slot is left. */
  pose(call: LegacyCall, questions: readonly Posed[]): boolean;
  /** Ends the round again if questions are open, else leaves the call to the server. */
  goOn(call: LegacyCall): void;
  /** The server takes a question back; false when it is not one of a call. */
  withdraw(session: LegacySession, id: RequestId): boolean;
  /** The call occupies its session no more, and the server is not waiting for its questions. */
  answered(call: LegacyCall): void;
  ended(call: LegacyCall, end: CallEnd): void;
}

export type Posed = Pick<OpenQuestion, "method" | "params">;

export interface ParkedRoundsHooks {
  /** An answer of the client is on its way to the server. */
  told(call: LegacyCall, question: OpenQuestion, answer: JsonText): void;
  /** A question outlived its call. */
  leftOver(question: Question): void;
  /** The client answered everything, and the server is not at work on the call: it must be sent. */
  proceed(call: LegacyCall): void;
}

export interface ParkedRoundsOptions {
  readonly name: string;
  readonly calls: Calls;
  readonly table: ParkedTable;
  readonly states: SealedStates;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly hooks: ParkedRoundsHooks;
}

/**
 * Questions of a legacy server as rounds of a client that remembers nothing between them: the call
 * stays open at the server while the client is away (2026-07-28/basic/patterns/mrtr).
 */
export function createParkedRounds(options: ParkedRoundsOptions): ParkedRounds {
  const { name, calls, table, states, clock, entropy, journal, limits, hooks } = options;

  const dialogueOf = (call: LegacyCall): Dialogue | undefined => {
    if (call.dialogue !== undefined) return call.dialogue;
    const dialogue = createDialogue(entropy.token());
    if (!table.enter(dialogue.callId, call)) return undefined;
    call.dialogue = dialogue;
    return dialogue;
  };

  const beat = (dialogue: Dialogue): void => {
    dialogue.beats += 1;
    for (const { reverse } of dialogue.questions.values()) {
      if (reverse?.progressToken === undefined) continue;
      reverse.session.conversation.notify(
        "notifications/progress",
        `{"progressToken":${reverse.progressToken},"progress":${dialogue.beats}}`,
      );
    }
    keepAlive(dialogue);
  };

  /** Servers that watch for progress wait as long as the user needs. */
  const keepAlive = (dialogue: Dialogue): void => {
    const watched = [...dialogue.questions.values()].some((open) => open.reverse?.progressToken);
    if (watched) dialogue.stop = clock.after(limits.keepAliveMs, () => beat(dialogue));
  };

  const expire = (call: LegacyCall): void => {
    journal.info("parked-call-expired", { upstream: name, method: call.method });
    const reason = "the client did not come back with an answer";
    calls.stop(call, { reason, end: "expired", outcome: CANCELLED });
  };

  const park = (call: LegacyCall, dialogue: Dialogue): void => {
    if (!moveCall(call, "round-over")) return;
    const { attachment, lease, exchange } = call;
    const questions = [...dialogue.questions.values()];
    for (const open of questions) open.asked = true;
    dialogue.round += 1;
    const onlySampling = questions.every(({ method }) => method === "sampling/createMessage");
    const waitMs = onlySampling ? limits.parkSamplingMs : limits.parkMs;
    const request = { ...call, principal: call.caller.principal };
    const continuation = states.seal(dialogue, request, clock.now() + waitMs);
    dialogue.stopExpiry = clock.after(waitMs, () => expire(call));
    if (exchange !== undefined) lease?.session.conversation.pause(exchange);
    keepAlive(dialogue);
    lease?.rest();
    const serverInfo = lease?.session.advertisement.serverInfo;
    const notices = call.remarks;
    attachment?.settle(inputRequired({ questions, continuation, serverInfo, notices }));
  };

  /** Ends the round soon: questions that are asked in parallel make one round. */
  const gather = (call: LegacyCall, dialogue: Dialogue): void => {
    if (!moveCall(call, "asked")) return;
    dialogue.stop = clock.after(limits.coalesceMs, () => park(call, dialogue));
  };

  const add = (
    call: LegacyCall,
    dialogue: Dialogue,
    open: Omit<OpenQuestion, "asked" | "unanswered">,
  ): void => {
    dialogue.questions.set(open.key, { ...open, asked: false, unanswered: 0 });
    if (call.state !== "parked") gather(call, dialogue);
    else {
      dialogue.stop();
      keepAlive(dialogue);
    }
  };

  const refuseUndeclaredIn = (call: LegacyCall, question: Question): void => {
    journal.info("capability-missing", { upstream: name, method: question.method });
    refuseUndeclared(question);
    if (call.attachment === undefined) return;
    const outcome = missingCapability(question.method, question.params);
    calls.stop(call, { reason: "the client cannot be asked", end: "cancelled", outcome });
  };

  const prefilledAnswer = (call: LegacyCall, { hint, method }: Question): JsonText | undefined => {
    if (hint === undefined || call.dialogue?.usedKeys.has(hint)) return undefined;
    const given = readInputResponses(call.prefilled).get(hint);
    return given === undefined || inputResponseProblem(method, given) !== undefined
      ? undefined
      : given;
  };

  const ask: ParkedRounds["ask"] = (call, question, handBack) => {
    const { method, params, hint } = question;
    if (!covers(call.caller.capabilities, method, params)) {
      refuseUndeclaredIn(call, question);
      return;
    }
    const prefilled = prefilledAnswer(call, question);
    const dialogue = dialogueOf(call);
    if (dialogue === undefined) {
      const message = "too many calls wait for answers of the client";
      refuseQuestion(question, message);
      remark(call, { code: "input-not-available", message });
      journal.warn("no-parking-slot", { upstream: name });
      return;
    }
    if (call.exchange !== undefined) dialogue.begun = true;
    const key = mintKey(dialogue, method, hint);
    const open = { key, method, params, reverse: question, handBack };
    if (prefilled === undefined) add(call, dialogue, open);
    else if (sendAnswer(question, prefilled)) {
      hooks.told(call, { ...open, asked: true, unanswered: 0 }, prefilled);
    }
  };

  const pose: ParkedRounds["pose"] = (call, questions) => {
    const dialogue = dialogueOf(call);
    if (dialogue === undefined) return false;
    for (const { method, params } of questions) {
      const key = mintKey(dialogue, method, undefined);
      add(call, dialogue, { key, method, params, reverse: undefined, handBack: undefined });
    }
    return true;
  };

  const goOn: ParkedRounds["goOn"] = (call) => {
    const { dialogue } = call;
    if (call.state !== "running" || dialogue === undefined) return;
    if (dialogue.questions.size > 0) gather(call, dialogue);
    else if (call.exchange === undefined) hooks.proceed(call);
  };

  const remove = (call: LegacyCall, dialogue: Dialogue, key: string): void => {
    dialogue.questions.delete(key);
    if (dialogue.questions.size > 0 || call.state !== "gathering") return;
    dialogue.stop();
    moveCall(call, "withdrawn");
    goOn(call);
  };

  return {
    ask,
    pose,
    goOn,
    withdraw(session, id) {
      for (const call of calls.all) {
        if (call.dialogue === undefined || call.lease?.session !== session) continue;
        for (const { key, reverse } of call.dialogue.questions.values()) {
          if (reverse?.id !== id || reverse.session !== session) continue;
          remove(call, call.dialogue, key);
          return true;
        }
      }
      return false;
    },
    answered({ dialogue }) {
      if (dialogue === undefined) return;
      dialogue.stop();
      const open = [...dialogue.questions.values()];
      dialogue.questions.clear();
      for (const { reverse } of open) if (reverse !== undefined) hooks.leftOver(reverse);
    },
    ended({ dialogue }, end) {
      if (dialogue === undefined) return;
      dialogue.stop();
      dialogue.stopExpiry();
      table.end(dialogue.callId, end);
      const open = [...dialogue.questions.values()];
      dialogue.questions.clear();
      for (const { reverse, handBack } of open) {
        if (reverse === undefined) continue;
        if (handBack === undefined) dismissQuestion(reverse, "the call was ended");
        else handBack(reverse);
      }
    },
  };
}
