import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { LegacyRevision } from "../model/era.js";
import {
  type InputMethod,
  type InputRequest,
  isInputMethod,
  readInputRequests,
} from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import { inputResponseProblem } from "../translation/input-requests.js";
import { liftInputResponse } from "../translation/lift-request.js";
import { covers } from "../translation/lower.js";
import { lowerInputRequest } from "../translation/lower-input-request.js";
import type { ReverseRequests } from "./reverse-requests.js";

/** What came of asking a client for what a round needs. */
export type Gathered =
  | {
      readonly type: "responses";
      /** The `inputResponses` object; undefined when the round asked for nothing. */
      readonly responses: JsonText | undefined;
      /** False when nobody was bothered: nothing was asked, or the user is known to be at it. */
      readonly asked: boolean;
    }
  /** The call cannot go on; the reason is fit for people. */
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "withdrawn" };

/** The questions of one call, over all its rounds. */
export interface InputRounds {
  /** `requests` is an `inputRequests` object. Never rejects. */
  gather(requests: JsonText | undefined): Promise<Gathered>;
  /** Ids of the URL interactions the user agreed to, for telling that they are over. */
  urlInteractions(): readonly string[];
}

export interface InputRoundsDeps {
  readonly reverse: ReverseRequests;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly limits: Pick<Limits, "urlPollMs" | "maxInFlightPerPrincipal">;
  readonly revision: LegacyRevision;
  /** The client's capabilities, as it can be asked. */
  readonly capabilities: JsonText;
  /** Puts a message on the stream of the call. */
  readonly send: (text: JsonText) => void;
  readonly signal: AbortSignal;
}

type Question = InputRequest & { readonly method: InputMethod };

/** A URL the user has agreed to visit. */
interface Visit {
  readonly elicitationId: string;
  answer: JsonText;
  agreedAt: number;
  prompts: number;
}

/** The user is sent to the same URL no more often than this. */
const MAX_PROMPTS = 2;

export function createInputRounds(deps: InputRoundsDeps): InputRounds {
  const { clock, entropy, limits, revision } = deps;
  const visits = new Map<string, Visit>();

  /** Nothing is sent before all of a round is known to be askable. */
  const problemOf = ({ method, params }: InputRequest): string | undefined => {
    if (!isInputMethod(method)) return `the server asks for ${method.slice(0, 64) || "nothing"}`;
    if (!covers(deps.capabilities, method, params)) {
      return `the server asks for ${method}, which this client did not declare`;
    }
    const known = visits.get(urlKey(method, params) ?? "");
    return known !== undefined && known.prompts >= MAX_PROMPTS && isStale(known)
      ? "the server still waits for the interaction at its URL"
      : undefined;
  };

  const problemIn = (entries: readonly InputRequest[]): string | undefined => {
    if (entries.length > limits.maxInFlightPerPrincipal) {
      return `the server asks for ${entries.length} things at once`;
    }
    for (const entry of entries) {
      const reason = problemOf(entry) ?? inexpressible(entry, revision);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };

  const isStale = (visit: Visit): boolean => clock.now() - visit.agreedAt >= limits.urlPollMs;

  /** The earlier consent to a URL, while the user may still be busy there. */
  const standing = ({ method, params }: Question): JsonText | undefined => {
    const visit = visits.get(urlKey(method, params) ?? "");
    return visit === undefined || isStale(visit) ? undefined : visit.answer;
  };

  const remember = (
    { method, params }: Question,
    elicitationId: string,
    answer: JsonText,
  ): void => {
    const key = urlKey(method, params);
    if (key === undefined || asString(memberAt(answer, "action")) !== "accept") return;
    const prompts = (visits.get(key)?.prompts ?? 0) + 1;
    visits.set(key, { elicitationId, answer, agreedAt: clock.now(), prompts });
  };

  const askOne = async (question: Question, signal: AbortSignal): Promise<OneAnswer> => {
    const elicitationId = entropy.token();
    const lowered = lowerInputRequest(question, { revision, elicitationId });
    if (lowered.type === "inexpressible") return { type: "failed", reason: lowered.reason };
    const { method } = question;
    const answer = await deps.reverse.ask({
      method,
      params: lowered.params,
      send: deps.send,
      signal,
    });
    if (answer.type === "withdrawn") return answer;
    if (answer.type === "refused") return { type: "failed", reason: answer.reason };
    const response = liftInputResponse(answer.result);
    const problem = inputResponseProblem(method, response);
    if (problem !== undefined) return { type: "failed", reason: problem };
    remember(question, elicitationId, response);
    return { type: "answered", response };
  };

  const askAll = async (questions: readonly Question[]): Promise<readonly OneAnswer[]> => {
    // One for each: a signal that many listen to takes longer with every one of them.
    const controllers = questions.map(() => new AbortController());
    const withdraw = (): void => {
      for (const controller of controllers) controller.abort();
    };
    deps.signal.addEventListener("abort", withdraw, { once: true });
    if (deps.signal.aborted) withdraw();
    const answers = questions.map(async (question, index) => {
      const answer = await askOne(question, controllers[index]?.signal ?? deps.signal);
      if (answer.type === "failed") withdraw();
      return answer;
    });
    const settled = await Promise.all(answers);
    deps.signal.removeEventListener("abort", withdraw);
    return settled;
  };

  return {
    async gather(requests) {
      if (requests === undefined) return { type: "responses", responses: undefined, asked: false };
      const entries = readInputRequests(requests);
      const reason = problemIn(entries);
      if (reason !== undefined) return { type: "failed", reason };
      const questions = entries.filter(isQuestion);
      const open = questions.filter((question) => standing(question) === undefined);
      const known = new Map(questions.map((question) => [question.key, standing(question)]));
      const answers = await askAll(open);
      for (const [index, answer] of answers.entries()) {
        if (answer.type === "failed") return answer;
        if (answer.type === "answered") known.set(open[index]?.key ?? "", answer.response);
      }
      if (deps.signal.aborted || [...known.values()].includes(undefined)) {
        return { type: "withdrawn" };
      }
      const members = [...known].map(([key, response]) => `${quote(key)}:${response}`);
      return { type: "responses", responses: `{${members.join(",")}}`, asked: open.length > 0 };
    },
    urlInteractions: () => [...visits.values()].map((visit) => visit.elicitationId),
  };
}

type OneAnswer =
  | { readonly type: "answered"; readonly response: JsonText }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "withdrawn" };

function isQuestion(entry: InputRequest): entry is Question {
  return isInputMethod(entry.method);
}

function inexpressible(entry: InputRequest, revision: LegacyRevision): string | undefined {
  if (!isQuestion(entry)) return undefined;
  const lowered = lowerInputRequest(entry, { revision, elicitationId: "" });
  return lowered.type === "inexpressible" ? lowered.reason : undefined;
}

/** Equal for questions that send the user to the same place for the same reason. */
function urlKey(method: string, params: JsonText | undefined): string | undefined {
  if (method !== "elicitation/create" || asString(memberAt(params, "mode")) !== "url") {
    return undefined;
  }
  const url = asString(memberAt(params, "url"));
  return url === undefined ? undefined : quote(url) + (memberAt(params, "message") ?? "");
}
