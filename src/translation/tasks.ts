import { createDraft } from "../jsonrpc/draft.js";
import { asNumber, asString, isObjectText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "tasks",
  feature: "Tasks",
  modernClient: {
    fate: "lost",
    how: "Not advertised; tools that require a task are called as one by the bridge, which waits for the result.",
  },
  legacyClient: {
    fate: "answered-here",
    how: "The bridge declares the tasks extension, polls the task a server makes of a call, asks its questions, and answers the call with the final result. A `task` parameter of the client is ignored.",
  },
  loss: "Neither client can detach from a long call; `tasks/*` are answered with -32601.",
  spec: ["2025-11-25/basic/utilities/tasks"],
  about: [
    "tasks",
    "task",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "tasks/update",
  ],
};

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export const TASK_STATUSES = [
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** What the bridge reads of a task. */
export interface TaskState {
  /** The text of the id string. */
  readonly id: JsonText;
  readonly status: TaskStatus;
  readonly statusMessage: string | undefined;
  readonly pollIntervalMs: number | undefined;
  readonly inputRequests: JsonText | undefined;
  readonly result: JsonText | undefined;
  readonly error: JsonText | undefined;
}

/** Do these capabilities, a client's or a server's, include tasks? */
export function declaresTasks(capabilities: JsonText): boolean {
  return isObjectText(memberAt(capabilities, "extensions", TASKS_EXTENSION));
}

/** The client's capabilities with the extension the bridge itself serves. */
export function withTasks(capabilities: JsonText): JsonText {
  const draft = createDraft(capabilities);
  draft.ensureObject("extensions").set(TASKS_EXTENSION, "{}");
  return draft.text();
}

/** Reads a task handle or a `tasks/get` result; undefined when it is none. */
export function readTask(result: JsonText): TaskState | undefined {
  const object = readObject(result);
  const id = memberOf(object, "taskId");
  const named = asString(memberOf(object, "status"));
  const status = TASK_STATUSES.find((known) => known === named);
  if (id === undefined || asString(id) === undefined || status === undefined) return undefined;
  return {
    id,
    status,
    statusMessage: asString(memberOf(object, "statusMessage")),
    pollIntervalMs: asNumber(memberOf(object, "pollIntervalMs")),
    inputRequests: memberOf(object, "inputRequests"),
    result: memberOf(object, "result"),
    error: memberOf(object, "error"),
  };
}

/** Params of `tasks/get` and `tasks/cancel`. */
export function taskParams(id: JsonText): JsonText {
  return `{"taskId":${id}}`;
}

/** Params of `tasks/update`. */
export function taskUpdateParams(id: JsonText, responses: JsonText): JsonText {
  return `{"taskId":${id},"inputResponses":${responses}}`;
}

/** Params, without a token, of the progress notice that stands for a status message. */
export function taskProgress(count: number, message: string): JsonText {
  return `{"progress":${count},"message":${quote(message)}}`;
}
