import { createDraft } from "../jsonrpc/draft.js";
import { asString, type JsonText } from "../jsonrpc/json-text.js";
import { type RawObject, readObject } from "../jsonrpc/raw-object.js";
import { type InputMethod, inputRequestsText } from "../model/input-request.js";
import type { Continuation, InputRequired } from "../model/operation.js";
import { type BridgeNotice, stampNotices } from "../translation/bridge-notices.js";
import { stampServerInfo } from "../translation/identity.js";
import { inputResponseProblem } from "../translation/input-requests.js";
import type { Dialogue, OpenQuestion } from "./legacy-call.js";

const PREFIX: Record<InputMethod, string> = {
  "elicitation/create": "e",
  "sampling/createMessage": "s",
  "roots/list": "r",
};

export function createDialogue(callId: string): Dialogue {
  return {
    callId,
    begun: false,
    round: 0,
    questions: new Map(),
    usedKeys: new Set(),
    beats: 0,
    stop: () => {},
    stopExpiry: () => {},
    urls: undefined,
  };
}

/** A key for a question: the one the server would like, or the next free one of its kind. */
export function mintKey(
  { usedKeys }: Dialogue,
  method: InputMethod,
  hint: string | undefined,
): string {
  let key = hint;
  for (let n = 1; key === undefined || usedKeys.has(key); n++) key = `${PREFIX[method]}${n}`;
  usedKeys.add(key);
  return key;
}

export interface RoundFacts {
  readonly questions: readonly OpenQuestion[];
  readonly continuation: Continuation;
  readonly serverInfo: JsonText | undefined;
  readonly notices: readonly BridgeNotice[];
}

/** The end of a round with questions (2026-07-28/basic/patterns/mrtr). */
export function inputRequired(facts: RoundFacts): InputRequired {
  const requests = inputRequestsText(facts.questions);
  const draft = createDraft(
    `{"resultType":"input_required","inputRequests":${requests},"requestState":${facts.continuation}}`,
  );
  stampServerInfo(draft, facts.serverInfo);
  stampNotices(draft, facts.notices);
  const { continuation } = facts;
  return { type: "input-required", requests, continuation, result: draft.text() };
}

/** `inputResponses` as an object; `"malformed"` when it is something else or holds no objects. */
export function readAnswers(responses: JsonText | undefined): RawObject | "malformed" | undefined {
  if (responses === undefined) return undefined;
  const object = readObject(responses);
  if (object === undefined) return "malformed";
  const allObjects = object.members.every(
    (member) => object.text.charCodeAt(member.start) === 0x7b,
  );
  return allObjects ? object : "malformed";
}

/** The first of the answers that the server must not get, with its key. */
export function firstProblem(
  questions: Iterable<OpenQuestion>,
  answers: ReadonlyMap<string, JsonText>,
): { readonly key: string; readonly problem: string } | undefined {
  for (const { key, method, asked } of questions) {
    const answer = answers.get(key);
    if (!asked || answer === undefined) continue;
    const problem = inputResponseProblem(method, answer);
    if (problem !== undefined) return { key, problem };
  }
  return undefined;
}

export function actionOf(answer: JsonText): string | undefined {
  const object = readObject(answer);
  const member = object?.members.find(({ key }) => key === "action");
  return asString(member && object?.text.slice(member.start, member.end));
}
