import { createDraft } from "../jsonrpc/draft.js";
import {
  asNumber,
  asString,
  isArrayText,
  isObjectText,
  type JsonText,
  quote,
} from "../jsonrpc/json-text.js";
import type { ErrorMessage, NotificationMessage, ResponseMessage } from "../jsonrpc/message.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import type { Limits } from "../model/limits.js";
import { META_RELATED_TASK } from "../model/meta-keys.js";
import type { Clock, Stop } from "../ports/clock.js";
import { readPages } from "../translation/pagination.js";
import { deliverProgress } from "./call-notices.js";
import type { Calls } from "./calls.js";
import type { LegacyCall } from "./legacy-call.js";
import { askServer } from "./legacy-conversation.js";
import type { LegacySession } from "./legacy-session.js";

/**
 * Tools that a server carries out as tasks only (2025-11-25/basic/utilities/tasks): the bridge starts
 * the task, follows it to its end, and gives the client the result as that of a plain call.
 */
export interface TaskCalls {
  /** Learns which tools of the session need it; undefined when there is nothing to wait for. */
  learn(call: LegacyCall, session: LegacySession): Promise<void> | undefined;
  /** Makes the params of such a call start a task. */
  amend(call: LegacyCall, params: JsonText): JsonText;
  /** True when the answer says that a task was started. */
  started(call: LegacyCall, message: ResponseMessage | ErrorMessage): boolean;
  /** A status notification: looks at the task at once. */
  changed(session: LegacySession, message: NotificationMessage): void;
  /** The tools of the session may have changed. */
  forget(session: LegacySession): void;
  cancelling(call: LegacyCall): void;
  ended(call: LegacyCall): void;
}

export interface TaskCallsOptions {
  readonly calls: Calls;
  readonly clock: Clock;
  readonly limits: Limits;
}

interface Task {
  readonly id: string;
  readonly session: LegacySession;
  readonly endsAt: number;
  stopTimer: Stop;
  readonly stopProgress: Stop;
}

function hasTaskTools({ handshake }: LegacySession): boolean {
  return isObjectText(memberAt(handshake, "capabilities", "tasks", "requests", "tools", "call"));
}

function taskToolsIn(result: JsonText): readonly string[] {
  const tools = memberAt(result, "tools");
  if (!isArrayText(tools)) return [];
  const names: string[] = [];
  for (const tool of elementsOf(tools)) {
    const name = asString(memberAt(tool, "name"));
    const support = asString(memberAt(tool, "execution", "taskSupport"));
    if (name !== undefined && support === "required") names.push(name);
  }
  return names;
}

function withoutRelatedTask(message: ResponseMessage): ResponseMessage {
  const draft = createDraft(message.result);
  const meta = draft.object("_meta");
  meta?.remove(META_RELATED_TASK);
  if (meta?.changed && meta.keys().length === 0) draft.remove("_meta");
  return { ...message, result: draft.text() };
}

export function createTaskCalls({ calls, clock, limits }: TaskCallsOptions): TaskCalls {
  const catalogues = new WeakMap<LegacySession, Promise<ReadonlySet<string>>>();
  const required = new WeakMap<LegacyCall, true>();
  const tasks = new Map<LegacyCall, Task>();

  const readCatalogue = async (session: LegacySession): Promise<ReadonlySet<string>> => {
    const { conversation } = session;
    const names = new Set<string>();
    const list = async (params: JsonText): Promise<JsonText | undefined> => {
      const answer = await askServer(conversation, "tools/list", params);
      return answer.type === "result" ? answer.result : undefined;
    };
    const isWhole = await readPages(list, limits.maxPages, (result) => {
      for (const name of taskToolsIn(result)) names.add(name);
    });
    if (!isWhole) catalogues.delete(session);
    return names;
  };

  const catalogueOf = (session: LegacySession): Promise<ReadonlySet<string>> => {
    const known = catalogues.get(session);
    if (known !== undefined) return known;
    const catalogue = readCatalogue(session);
    catalogues.set(session, catalogue);
    return catalogue;
  };

  const end = (call: LegacyCall): void => {
    const task = tasks.get(call);
    task?.stopTimer();
    task?.stopProgress();
    tasks.delete(call);
  };

  const ask = (
    call: LegacyCall,
    task: Task,
    method: string,
    answered: (message: ResponseMessage | ErrorMessage) => void,
  ): void => {
    const left = Math.max(1, task.endsAt - clock.now());
    const exchange = task.session.conversation.request(
      method,
      () => `{"taskId":${quote(task.id)}}`,
      {
        answered(message) {
          if (method === "tasks/get") calls.detach(call);
          answered(message);
        },
        lost: (loss) => calls.lose(call, loss),
        progressed: (params) => deliverProgress(call, params),
      },
      { timeoutMs: left, ceilingMs: left },
    );
    calls.adopt(call, exchange);
  };

  const fetchResult = (call: LegacyCall, task: Task): void =>
    ask(call, task, "tasks/result", (message) =>
      calls.finishWith(call, message.type === "response" ? withoutRelatedTask(message) : message),
    );

  /** `pollInterval` is the server's wish, within reason. */
  const pollLater = (call: LegacyCall, task: Task, facts: JsonText): void => {
    const wish = asNumber(memberAt(facts, "pollInterval")) ?? limits.taskPollMs;
    const ms = Math.min(Math.max(wish, limits.taskPollMinMs), limits.keepAliveMs);
    task.stopTimer = clock.after(ms, () => poll(call, task));
  };

  const see = (call: LegacyCall, task: Task, facts: JsonText): void => {
    // `input_required` too: the questions come on the stream of tasks/result.
    if (asString(memberAt(facts, "status")) !== "working") fetchResult(call, task);
    else pollLater(call, task, facts);
  };

  const poll = (call: LegacyCall, task: Task): void => {
    if (!tasks.has(call) || call.exchange !== undefined) return;
    task.stopTimer();
    ask(call, task, "tasks/get", (message) => {
      if (message.type === "error") calls.finishWith(call, message);
      else see(call, task, message.result);
    });
  };

  return {
    learn(call, session) {
      if (call.method !== "tools/call" || !hasTaskTools(session)) return undefined;
      const name = asString(memberAt(call.params, "name")) ?? "";
      return catalogueOf(session).then((names) => {
        if (names.has(name)) required.set(call, true);
      });
    },
    amend(call, params) {
      if (!required.has(call)) return params;
      const draft = createDraft(params);
      draft.set("task", `{"ttl":${limits.requestCeilingMs}}`);
      return draft.text();
    },
    started(call, message) {
      const { lease, exchange } = call;
      if (!required.has(call) || message.type !== "response") return false;
      if (lease === undefined || exchange === undefined) return false;
      const facts = memberAt(message.result, "task");
      const id = asString(memberOf(readObject(facts), "taskId"));
      if (facts === undefined || id === undefined) return false;
      const { conversation } = lease.session;
      const task: Task = {
        id,
        session: lease.session,
        endsAt: clock.now() + limits.requestCeilingMs,
        stopTimer: () => {},
        stopProgress: conversation.follow(exchange, (params) => deliverProgress(call, params)),
      };
      call.task = id;
      call.resent = true;
      calls.detach(call);
      tasks.set(call, task);
      see(call, task, facts);
      return true;
    },
    changed(session, { params }) {
      const id = asString(memberAt(params, "taskId"));
      for (const [call, task] of tasks) {
        if (task.session === session && task.id === id) poll(call, task);
      }
    },
    forget: (session) => {
      catalogues.delete(session);
    },
    cancelling(call) {
      const task = tasks.get(call);
      if (task === undefined) return;
      end(call);
      const times = { timeoutMs: limits.requestTimeoutMs, ceilingMs: limits.requestTimeoutMs };
      const params = `{"taskId":${quote(task.id)}}`;
      void askServer(task.session.conversation, "tasks/cancel", params, times);
    },
    ended: end,
  };
}
