import { BridgeError } from "../errors.js";
import { asNumber, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { toFailed } from "../model/failure.js";
import { inputRequestsText, readInputRequests } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import { type Notices, PROGRESS } from "../model/notice.js";
import type { Operation, Outcome } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import {
  readTask,
  type TaskState,
  taskParams,
  taskProgress,
  taskUpdateParams,
} from "../translation/tasks.js";
import { type CallEnd, cancelled, withoutInput } from "./call-rounds.js";
import type { InputRounds } from "./input-rounds.js";
import { pause } from "./pause.js";

export interface TaskDriverDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly inputs: InputRounds;
  readonly notices: Notices;
  readonly signal: AbortSignal;
}

/**
 * Waits for the task a server made of a call and returns what the call would have (the tasks extension,
 * "Task Polling"): asks its questions once each, tells its status as progress, takes it back when the
 * client cancels. `handle` is the server's first result. Never rejects.
 */
export async function driveTask(
  call: Operation,
  handle: JsonText,
  deps: TaskDriverDeps,
): Promise<CallEnd> {
  const { clock, limits, signal } = deps;
  const first = readTask(handle);
  if (first === undefined) return invalid("the server made a task of the call and did not name it");
  const endsAt = clock.now() + limits.requestCeilingMs;
  const asked = new Set<string>();
  const tell = createStatusProgress(call, deps);
  let task: TaskState = first;
  for (;;) {
    const end = endOf(task);
    if (end !== undefined) return end;
    tell(task.statusMessage);
    const unanswered = await answerQuestions(call, task, asked, deps);
    if (unanswered !== undefined) return cancelTask(call, task, unanswered, deps);
    if (clock.now() >= endsAt) return cancelTask(call, task, late(), deps);
    const polled = await poll(call, task, deps);
    if (signal.aborted) return cancelTask(call, task, cancelled(), deps);
    if ("type" in polled) return polled;
    task = polled;
  }
}

function late(): CallEnd {
  return toFailed(new BridgeError("upstream-timeout", "the task did not end in time"));
}

/** The task after a pause. A server that cannot be reached is asked a few times more. */
async function poll(
  call: Operation,
  task: TaskState,
  deps: TaskDriverDeps,
): Promise<TaskState | CallEnd> {
  const { clock, limits, signal } = deps;
  for (let misses = 0; ; misses++) {
    await pause(clock, pollMs(task, limits), signal);
    if (signal.aborted) return cancelled();
    const outcome = await ask(call, "tasks/get", taskParams(task.id), deps);
    if (outcome.type === "complete") {
      return readTask(outcome.result) ?? invalid("the server lost sight of the task");
    }
    if (outcome.type === "input-required") return invalid("a task is not asked about in rounds");
    if (outcome.cause !== "unavailable" || misses >= limits.maxResumeAttempts) return outcome;
  }
}

function pollMs({ pollIntervalMs }: TaskState, limits: Limits): number {
  const wanted = pollIntervalMs ?? limits.taskPollMs;
  return Math.min(Math.max(wanted, limits.taskPollMinMs), limits.taskPollMaxMs);
}

function ask(
  call: Operation,
  method: string,
  params: JsonText,
  { service, signal }: Pick<TaskDriverDeps, "service" | "signal">,
): Promise<Outcome> {
  const operation: Operation = {
    method,
    params,
    caller: call.caller,
    logLevel: undefined,
    wantsProgress: false,
    answers: undefined,
  };
  return service.relay(operation, () => {}, signal);
}

/** The end of the call, once the task has one. */
function endOf(task: TaskState): CallEnd | undefined {
  switch (task.status) {
    case "working":
    case "input_required":
      return undefined;
    case "completed":
      return task.result === undefined
        ? invalid("the task is complete and has no result")
        : { type: "complete", result: task.result };
    case "failed":
      return failedAs(task);
    case "cancelled":
      return toFailed(
        new BridgeError("upstream-lost", "the server cancelled the task of the call"),
      );
  }
}

function failedAs({ error, statusMessage }: TaskState): CallEnd {
  const code = asNumber(memberAt(error, "code"));
  if (error === undefined || code === undefined) {
    return invalid(`the task failed without an error${statusMessage ? `: ${statusMessage}` : ""}`);
  }
  return { type: "failed", error: { code, text: error }, cause: "peer" };
}

function invalid(message: string): CallEnd {
  return toFailed(new BridgeError("upstream-invalid", message));
}

/** Asks what was not asked before and sends the answers; the end of the call when that cannot be. */
async function answerQuestions(
  call: Operation,
  task: TaskState,
  asked: Set<string>,
  deps: TaskDriverDeps,
): Promise<CallEnd | undefined> {
  if (task.status !== "input_required" || task.inputRequests === undefined) return undefined;
  const fresh = readInputRequests(task.inputRequests).filter(({ key }) => !asked.has(key));
  if (fresh.length === 0) return undefined;
  for (const { key } of fresh) asked.add(key);
  const gathered = await deps.inputs.gather(inputRequestsText(fresh));
  if (gathered.type === "withdrawn") return cancelled();
  if (gathered.type === "failed") return withoutInput(call, gathered.reason);
  const params = taskUpdateParams(task.id, gathered.responses ?? "{}");
  const outcome = await ask(call, "tasks/update", params, deps);
  return outcome.type === "failed" ? outcome : undefined;
}

/** Takes the task back (`notifications/cancelled` must not be used for it) and ends the call. */
function cancelTask(
  call: Operation,
  task: TaskState,
  end: CallEnd,
  { service, journal }: TaskDriverDeps,
): CallEnd {
  // The call's own signal may be aborted already: this request outlives it.
  const signal = new AbortController().signal;
  void ask(call, "tasks/cancel", taskParams(task.id), { service, signal }).then((outcome) => {
    if (outcome.type === "failed") journal.info("task-not-cancelled", { code: outcome.error.code });
  });
  return end;
}

/** A status message has no place of its own in a plain call: it becomes progress. */
function createStatusProgress(
  call: Operation,
  { notices }: TaskDriverDeps,
): (message: string | undefined) => void {
  let count = 0;
  let last: string | undefined;
  return (message) => {
    if (message === undefined || message === last || !call.wantsProgress) return;
    last = message;
    count += 1;
    notices({ method: PROGRESS, params: taskProgress(count, message) });
  };
}
