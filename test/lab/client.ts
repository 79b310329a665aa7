import { isObject, type Json, type JsonObject } from "./json.js";
import type { Ending } from "./line-process.js";

/** The answer to one request, or why there is none. */
export type Reply =
  | { readonly result: JsonObject }
  | { readonly error: JsonObject }
  | { readonly nothing: "silence" | "the process is gone" | "an answer that is none" };

export interface Offence {
  readonly what: string;
  readonly detail: string;
}

export const refusal = (method: string, detail: string): Offence => ({
  what: `the official client refuses ${method}`,
  detail: detail.replaceAll(/\s+/g, " ").slice(0, 200),
});

export interface Closing extends Ending {
  /** What the peer did that its revision forbids. */
  readonly offences: readonly Offence[];
  readonly complaints: string;
}

/** A client of one era on one process. Requests are never rejected: what happened is the reply. */
export interface LabClient {
  /** Begins the conversation: `initialize` or `server/discover`. */
  open(): Promise<Reply>;
  request(method: string, params: JsonObject, waitMs?: number): Promise<Reply>;
  readonly ended: Promise<void>;
  close(): Promise<Closing>;
}

export const CLIENT_INFO: JsonObject = { name: "erabridge-lab", version: "1.0.0" };
export const CAPABILITIES: JsonObject = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};

export const WAIT_MS = 10_000;
export const START_WAIT_MS = 18_000;

/** What both clients say when a server asks; undefined for what they do not know. */
export function answerTo(method: Json | undefined, home: string): JsonObject | undefined {
  if (method === "roots/list") return { roots: [{ uri: `file://${home}`, name: "home" }] };
  if (method === "elicitation/create") return { action: "decline" };
  if (method === "sampling/createMessage")
    return { role: "assistant", model: "none", content: { type: "text", text: "ok" } };
  return undefined;
}

export function replyOf({ result, error }: JsonObject): Reply {
  if (isObject(error)) return { error };
  return isObject(result) ? { result } : { nothing: "an answer that is none" };
}

interface Pending {
  settle(reply: Reply): void;
}

/** Requests under ids of their own, each settled once. */
export interface Questions {
  /** `send` gets the id to use. */
  ask(send: (id: number) => void, waitMs: number): Promise<Reply>;
  /** False when no request of that id is open. */
  answer(id: Json | undefined, reply: Reply): boolean;
  abandon(): void;
}

export function createQuestions(): Questions {
  const open = new Map<Json | undefined, Pending>();
  let last = 0;
  let over = false;
  return {
    ask: (send, waitMs) =>
      new Promise((resolve) => {
        if (over) return resolve({ nothing: "the process is gone" });
        last += 1;
        const id = last;
        const timer = setTimeout(() => settle({ nothing: "silence" }), waitMs);
        const settle = (reply: Reply): void => {
          clearTimeout(timer);
          open.delete(id);
          resolve(reply);
        };
        open.set(id, { settle });
        send(id);
      }),
    answer: (id, reply) => {
      const pending = open.get(id);
      pending?.settle(reply);
      return pending !== undefined;
    },
    abandon: () => {
      over = true;
      for (const pending of [...open.values()]) pending.settle({ nothing: "the process is gone" });
    },
  };
}
