import { createDraft } from "../jsonrpc/draft.js";
import { asNumber, asString, type JsonText } from "../jsonrpc/json-text.js";
import type {
  ErrorMessage,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";

/** The progress token a request carries. */
export function tokenOf({ params }: RequestMessage): JsonText | undefined {
  return memberAt(params, "_meta", "progressToken");
}

/** The message with the id, and where it has one the progress token, of the next hop. */
export function withNumber(message: RequestMessage, number: number): JsonText {
  const draft = createDraft(message.raw);
  draft.set("id", `${number}`);
  if (tokenOf(message) !== undefined) {
    draft.ensureObject("params").ensureObject("_meta").set("progressToken", `${number}`);
  }
  return draft.text();
}

/** The answer with the id that the asking side gave its request. */
export function withId({ raw }: ResponseMessage | ErrorMessage, id: RequestId): JsonText {
  const draft = createDraft(raw);
  draft.set("id", id);
  return draft.text();
}

/** The notification with another value in the place of one of its params. */
export function withParam({ raw }: NotificationMessage, key: string, value: JsonText): JsonText {
  const draft = createDraft(raw);
  draft.ensureObject("params").set(key, value);
  return draft.text();
}

/** The number of this hop that an id or a token stands for; peers may write it as a string. */
export function numberOf(text: JsonText | undefined): number {
  return asNumber(text) ?? Number(asString(text) || Number.NaN);
}

/**
 * Progress tokens by number, those of tasks included: their token stays good after the answer that
 * created the task (2025-11-25/basic/utilities/tasks). At most `max` are kept; the oldest go.
 */
export interface TaskTokens {
  keep(number: number, token: JsonText): void;
  of(number: number): JsonText | undefined;
}

export function createTaskTokens(max: number): TaskTokens {
  const tokens = new Map<number, JsonText>();
  return {
    keep(number, token) {
      tokens.set(number, token);
      for (const oldest of tokens.keys()) {
        if (tokens.size <= max) return;
        tokens.delete(oldest);
      }
    },
    of: (number) => tokens.get(number),
  };
}

/** Does the request ask to be made a task? */
export function asksForTask({ params }: RequestMessage): boolean {
  return memberAt(params, "task") !== undefined;
}
