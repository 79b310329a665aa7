import { requestKey } from "../front/request-key.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type {
  ErrorMessage,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from "../jsonrpc/message.js";
import { callText } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { CANCELLED, cancelledParams } from "../translation/cancellation.js";
import {
  asksForTask,
  createTaskTokens,
  numberOf,
  tokenOf,
  withId,
  withNumber,
  withParam,
} from "./reminting.js";

/** A text for the client, and the call with which the question went to it. */
export interface Withdrawal {
  readonly text: JsonText;
  readonly via: number | undefined;
}

/** What a server asks its client, message by message, in the numbers of the hop to the client. */
export interface Questions {
  /** The server's request for the client; undefined when too many are open. */
  ask(message: RequestMessage, via: number | undefined): JsonText | undefined;
  /** The client's answer for the server; undefined when it answers nothing that is open. */
  answer(message: ResponseMessage | ErrorMessage): JsonText | undefined;
  /** The client's progress for the server; undefined when the server did not want any. */
  progress(message: NotificationMessage): JsonText | undefined;
  /** The server's cancellation for the client; undefined when the question is not open. */
  withdraw(message: NotificationMessage): Withdrawal | undefined;
  /** Forgets everything; the cancellations for the client. */
  withdrawAll(): readonly Withdrawal[];
  /** Forgets everything; the ids that the server waits for. */
  abandonAll(): readonly RequestId[];
  readonly size: number;
}

interface Question {
  readonly id: RequestId;
  readonly token: JsonText | undefined;
  readonly mayBecomeTask: boolean;
  readonly via: number | undefined;
}

/** Keeps at most `max` open questions. */
export function createQuestions(max: number): Questions {
  const open = new Map<number, Question>();
  const tasks = createTaskTokens(max);
  let lastNumber = 0;

  const clear = (): readonly (readonly [number, Question])[] => {
    const all = [...open];
    open.clear();
    return all;
  };

  return {
    ask(message, via) {
      if (open.size >= max) return undefined;
      const number = ++lastNumber;
      const { id } = message;
      open.set(number, { id, token: tokenOf(message), mayBecomeTask: asksForTask(message), via });
      return withNumber(message, number);
    },
    answer(message) {
      const number = numberOf(message.id);
      const question = open.get(number);
      if (question === undefined) return undefined;
      open.delete(number);
      const { id, token, mayBecomeTask } = question;
      if (mayBecomeTask && token !== undefined) tasks.keep(number, token);
      return withId(message, id);
    },
    progress(message) {
      const number = numberOf(memberAt(message.params, "progressToken"));
      const token = open.get(number)?.token ?? tasks.of(number);
      return token === undefined ? undefined : withParam(message, "progressToken", token);
    },
    withdraw(message) {
      const id = memberAt(message.params, "requestId");
      if (id === undefined) return undefined;
      const key = requestKey(id);
      for (const [number, question] of open) {
        if (requestKey(question.id) !== key) continue;
        open.delete(number);
        return { text: withParam(message, "requestId", `${number}`), via: question.via };
      }
      return undefined;
    },
    withdrawAll: () =>
      clear().map(([number, { via }]) => {
        const params = cancelledParams(number, "the server has gone");
        return { text: callText(undefined, CANCELLED, params), via };
      }),
    abandonAll: () => clear().map(([, { id }]) => id),
    get size() {
      return open.size;
    },
  };
}
