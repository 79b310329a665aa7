import { createDraft } from "../jsonrpc/draft.js";
import { asNumber, asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { callText, type RequestMessage, resultText } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Caller } from "../model/caller.js";
import type { LegacyRevision } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import type { LogLevel } from "../model/log-level.js";
import { LOG_MESSAGE, type Notice, PROGRESS } from "../model/notice.js";
import type { Complete, Operation } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import { liftRequest } from "../translation/lift-request.js";
import { isLogWanted } from "../translation/log-level.js";
import { lowerNotice } from "../translation/lower-notice.js";
import { lowerResult } from "../translation/lower-result.js";
import { serverNotificationMembership } from "../wire/classify.js";
import type { AdvertisedTools } from "./advertised-tools.js";
import { answerFailed, type CallOutlet } from "./call-outlet.js";
import { type CallEnd, relayRounds } from "./call-rounds.js";
import { createInputRounds, type InputRounds } from "./input-rounds.js";
import type { ReverseRequests } from "./reverse-requests.js";
import { driveTask } from "./task-driver.js";

export interface LegacyCallDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly reverse: ReverseRequests;
  readonly tools: AdvertisedTools;
  readonly revision: LegacyRevision;
  /** The caller and the log level of the session as they are now. */
  readonly caller: () => Caller;
  readonly logLevel: () => LogLevel | undefined;
}

/** One request of a legacy client from its arrival to its answer. Never rejects. */
export async function runLegacyCall(
  message: RequestMessage,
  outlet: CallOutlet,
  signal: AbortSignal,
  deps: LegacyCallDeps,
): Promise<void> {
  const token = progressToken(message.params);
  const params = liftRequest(message.method, message.params);
  const next = (): Operation => ({
    method: message.method,
    params,
    caller: deps.caller(),
    logLevel: deps.logLevel(),
    wantsProgress: token !== undefined,
    answers: undefined,
  });
  let over = false;
  const send = (text: JsonText): void => {
    if (!over) outlet.send(text);
  };
  const notices = createCallNotices(token, deps.logLevel, (text) => {
    if (!signal.aborted) send(text);
  });
  const { capabilities } = deps.caller();
  const inputs = createInputRounds({ ...deps, capabilities, send, signal });
  const context = { ...deps, inputs, notices, signal };

  let end = await relayRounds(next, context);
  if (isTaskHandle(message.method, end)) end = await driveTask(next(), end.result, context);
  const result = end.type === "complete" ? await resultOf(message, next(), end, signal, deps) : "";
  if (!signal.aborted) sendCompletions(inputs, send);
  over = true;
  if (signal.aborted) outlet.abandon();
  else if (end.type === "failed") answerFailed(message, outlet, end);
  else outlet.answer(resultText(message.id, result));
}

async function resultOf(
  { method }: RequestMessage,
  operation: Operation,
  end: Complete,
  signal: AbortSignal,
  { revision, tools, service }: LegacyCallDeps,
): Promise<JsonText> {
  if (method === "tools/list") tools.note(end.result);
  const list = async (params: JsonText): Promise<JsonText | undefined> => {
    const page = { ...operation, method: "tools/list", params };
    const listed = await service.relay(page, () => {}, signal);
    return listed.type === "complete" ? listed.result : undefined;
  };
  const name = asString(memberAt(operation.params, "name"));
  const isStructured = method === "tools/call" && end.result.includes('"structuredContent"');
  const wraps = isStructured && name !== undefined && (await tools.wraps(name, list));
  return lowerResult(method, end.result, { revision, wraps });
}

function progressToken(params: JsonText | undefined): JsonText | undefined {
  const token = memberAt(params, "_meta", "progressToken");
  const isToken = asString(token) !== undefined || asNumber(token) !== undefined;
  return isToken ? token : undefined;
}

function isTaskHandle(method: string, end: CallEnd): end is Complete {
  return (
    method === "tools/call" &&
    end.type === "complete" &&
    end.result.includes('"task"') &&
    memberAt(end.result, "resultType") === '"task"'
  );
}

/** Tells the client that the interactions it sent its user to are over. */
function sendCompletions(inputs: InputRounds, send: (text: JsonText) => void): void {
  for (const id of inputs.urlInteractions()) {
    const params = `{"elicitationId":${quote(id)}}`;
    send(callText(undefined, "notifications/elicitation/complete", params));
  }
}

/**
 * What of the server's notices goes on the stream of the call: progress with the client's own token,
 * rising over all rounds, log messages of the session's level, and what neither era defines. Changes
 * have another way.
 */
function createCallNotices(
  token: JsonText | undefined,
  logLevel: () => LogLevel | undefined,
  send: (text: JsonText) => void,
): (notice: Notice) => void {
  let last = Number.NEGATIVE_INFINITY;

  const progress = (params: JsonText | undefined): void => {
    const value = asNumber(memberAt(params, "progress"));
    if (token === undefined || value === undefined || value <= last) return;
    last = value;
    const draft = createDraft(lowerNotice(params));
    draft.set("progressToken", token);
    send(callText(undefined, PROGRESS, draft.text()));
  };

  const passes = (notice: Notice): boolean => {
    if (notice.method !== LOG_MESSAGE) {
      return serverNotificationMembership(notice.method) === "unknown";
    }
    return isLogWanted(notice.params, logLevel());
  };

  return (notice) => {
    if (notice.method === PROGRESS) progress(notice.params);
    else if (passes(notice)) send(callText(undefined, notice.method, lowerNotice(notice.params)));
  };
}
