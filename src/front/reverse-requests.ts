import { createDraft } from "../jsonrpc/draft.js";
import { asNumber, asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import {
  callText,
  type ErrorMessage,
  type NotificationMessage,
  type ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { InputMethod } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { CANCELLED, cancelledParams } from "../translation/cancellation.js";
import { remintToken } from "../translation/progress.js";

/** How a client met a question. */
export type ReverseAnswer =
  | { readonly type: "answered"; readonly result: JsonText }
  /** It sent an error, or nothing in time; the reason is fit for people. */
  | { readonly type: "refused"; readonly reason: string }
  /** The question was taken back. */
  | { readonly type: "withdrawn" };

export interface ReverseRequest {
  readonly method: InputMethod;
  readonly params: JsonText;
  /** Puts the whole request, or its cancellation, on the stream of the call. */
  readonly send: (text: JsonText) => void;
  /** Aborting takes the question back. */
  readonly signal: AbortSignal;
}

/** The questions of one session to its client, and what comes back. */
export interface ReverseRequests {
  /** Asks; never rejects. */
  ask(request: ReverseRequest): Promise<ReverseAnswer>;
  /** Takes any response of the client; false when nothing waits for it. */
  take(message: ResponseMessage | ErrorMessage): boolean;
  /** Takes progress of the client on a question; its time starts anew. */
  progressed(message: NotificationMessage): void;
  /** Nobody will answer any more: what waits and what is still to be asked is refused. */
  refuseAll(reason: string): void;
  readonly open: number;
}

export interface ReverseRequestsDeps {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Pick<Limits, "reverseTimeoutMs" | "requestCeilingMs">;
  /** Ids may never repeat in a session, even one that several instances serve. */
  readonly firstId: number;
}

interface Waiting {
  settle(answer: ReverseAnswer): void;
  restart(): void;
}

export function createReverseRequests(deps: ReverseRequestsDeps): ReverseRequests {
  const { clock, journal, limits } = deps;
  const waiting = new Map<number, Waiting>();
  let nextId = deps.firstId;
  let refusal: ReverseAnswer | undefined;

  const ask = ({ method, params, send, signal }: ReverseRequest): Promise<ReverseAnswer> => {
    if (signal.aborted) return Promise.resolve({ type: "withdrawn" });
    if (refusal !== undefined) return Promise.resolve(refusal);
    const id = nextId++;
    const endsAt = clock.now() + limits.requestCeilingMs;
    return new Promise((resolve) => {
      let stop: Stop = () => {};
      const settle = (answer: ReverseAnswer): void => {
        if (!waiting.delete(id)) return;
        stop();
        signal.removeEventListener("abort", withdraw);
        resolve(answer);
      };
      const cancel = (reason: string): void => {
        send(callText(undefined, CANCELLED, cancelledParams(id, reason)));
      };
      const withdraw = (): void => {
        cancel("the call no longer needs an answer");
        settle({ type: "withdrawn" });
      };
      const expire = (): void => {
        journal.info("reverse-request-timed-out", { method });
        cancel("no answer in time");
        settle({ type: "refused", reason: "no answer in time" });
      };
      const restart = (): void => {
        stop();
        stop = clock.after(Math.min(limits.reverseTimeoutMs, endsAt - clock.now()), expire);
      };
      waiting.set(id, { settle, restart });
      signal.addEventListener("abort", withdraw, { once: true });
      restart();
      send(callText(`${id}`, method, withToken(params, id)));
    });
  };

  return {
    ask,
    take(message) {
      const found = message.id === undefined ? undefined : waiting.get(Number(message.id));
      if (found === undefined) return false;
      found.settle(toAnswer(message));
      return true;
    },
    progressed({ params }) {
      waiting.get(asNumber(memberAt(params, "progressToken")) ?? Number.NaN)?.restart();
    },
    refuseAll(reason) {
      const refused: ReverseAnswer = { type: "refused", reason };
      refusal = refused;
      for (const { settle } of [...waiting.values()]) settle(refused);
    },
    get open() {
      return waiting.size;
    },
  };
}

/** The id serves as token too: the client may say that it is still busy with the question. */
function withToken(params: JsonText, id: number): JsonText {
  const draft = createDraft(params);
  remintToken(draft, id);
  return draft.text();
}

function toAnswer(message: ResponseMessage | ErrorMessage): ReverseAnswer {
  if (message.type === "error") {
    const reason = asString(memberAt(message.error, "message")) ?? "the client answered an error";
    return { type: "refused", reason };
  }
  if (!isObjectText(message.result)) return { type: "refused", reason: "the answer is no object" };
  return { type: "answered", result: message.result };
}
