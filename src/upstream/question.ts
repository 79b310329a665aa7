import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asString, type JsonText } from "../jsonrpc/json-text.js";
import type { RequestId, RequestMessage } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { type InputMethod, isInputMethod } from "../model/input-request.js";
import { META_RELATED_TASK } from "../model/meta-keys.js";
import { type WireError, wireError } from "../model/wire-error.js";
import { liftReverseRequest } from "../translation/input-requests.js";
import { lowerInputResponse } from "../translation/lower.js";
import type { LegacySession } from "./legacy-session.js";

/** What 2025-11-25/client/sampling gives for a request that the user turned down. */
const USER_REJECTED = -1;

/** A reverse request that waits for its answer. */
export interface Question {
  readonly session: LegacySession;
  /** The server's id for it. */
  readonly id: RequestId;
  readonly method: InputMethod;
  /** As an input request carries them. */
  readonly params: JsonText | undefined;
  /** The key the server would like it to have. */
  readonly hint: string | undefined;
  /** Set where the server listens for progress of the answer. */
  readonly progressToken: JsonText | undefined;
  /** The task it belongs to. */
  readonly task: string | undefined;
}

export function toQuestion(session: LegacySession, message: RequestMessage): Question | undefined {
  const { id, method, params } = message;
  if (!isInputMethod(method)) return undefined;
  const lifted = liftReverseRequest(method, params);
  return {
    session,
    id,
    method,
    params: lifted.params,
    hint: lifted.key,
    progressToken: memberAt(params, "_meta", "progressToken"),
    task: asString(memberAt(params, "_meta", META_RELATED_TASK, "taskId")),
  };
}

export function answerQuestion({ session, id }: Question, result: JsonText): void {
  session.conversation.answer(id, result);
}

function refuseWith({ session, id }: Question, error: WireError): void {
  session.conversation.refuse(id, error);
}

/** Nobody can be asked now, for a reason that lies outside the question. */
export function refuseQuestion(question: Question, reason: string): void {
  const code = question.method === "roots/list" ? METHOD_NOT_FOUND : INVALID_PARAMS;
  refuseWith(question, wireError(code, reason));
}

/** The client did not declare what the question needs. */
export function refuseUndeclared(question: Question): void {
  const knowsMethod =
    question.method === "elicitation/create" || memberAt(question.params, "tools") !== undefined;
  const code = knowsMethod ? INVALID_PARAMS : METHOD_NOT_FOUND;
  refuseWith(question, wireError(code, "the client did not declare this capability"));
}

/** Nobody will answer: server code that waits must not wait for ever. */
export function dismissQuestion(question: Question, reason: string): void {
  switch (question.method) {
    case "elicitation/create":
      answerQuestion(question, '{"action":"cancel"}');
      return;
    case "sampling/createMessage":
      refuseWith(question, wireError(USER_REJECTED, reason));
      return;
    case "roots/list":
      refuseWith(question, wireError(INTERNAL_ERROR, reason));
      return;
  }
}

/** Sends the client's answer; false when it cannot be put into the words of the server's revision. */
export function sendAnswer(question: Question, answer: JsonText): boolean {
  const result = lowerInputResponse(question.method, answer, question.session.revision);
  if (result === undefined) {
    const message = "the answer cannot be expressed in this revision";
    refuseWith(question, wireError(INTERNAL_ERROR, message));
    return false;
  }
  answerQuestion(question, result);
  return true;
}
