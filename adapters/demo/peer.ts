import type { Channel } from "../../src/index.js";

export type Json = Readonly<Record<string, unknown>>;

/** Answers a request of the other side: with a result object, or by throwing. */
export type Handler = (method: string, params: Json) => Promise<Json> | Json;

/** One side of a JSON-RPC conversation over a channel, as small as the demonstration needs it. */
export interface Peer {
  /** Resolves with the result; rejects when the answer is an error or the channel ends. */
  request(method: string, params?: Json): Promise<Json>;
  notify(method: string, params?: Json): void;
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: Json): void;
  reject(error: Error): void;
}

const METHOD_NOT_FOUND = -32601;

export class NoSuchMethod extends Error {
  override readonly name = "NoSuchMethod";
}

export function createPeer(channel: Channel, handler: Handler): Peer {
  const waiting = new Map<unknown, Waiting>();
  let lastId = 0;
  const send = (message: Json) => channel.send(JSON.stringify({ jsonrpc: "2.0", ...message }));

  const serve = async (id: unknown, method: string, params: Json) => {
    try {
      const result = await handler(method, params);
      if (id !== undefined) send({ id, result });
    } catch (error) {
      const code = error instanceof NoSuchMethod ? METHOD_NOT_FOUND : -32603;
      const text = error instanceof Error ? error.message : String(error);
      if (id !== undefined) send({ id, error: { code, message: text } });
    }
  };

  channel.start({
    message(text) {
      const message = JSON.parse(text) as {
        id?: unknown;
        method?: string;
        params?: Json;
        result?: Json;
        error?: { message: string };
      };
      if (message.method !== undefined) {
        void serve(message.id, message.method, message.params ?? {});
        return;
      }
      const entry = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.result !== undefined) entry?.resolve(message.result);
      else entry?.reject(new Error(message.error?.message ?? "no answer"));
    },
    dropped: () => undefined,
    closed(end) {
      for (const entry of waiting.values()) entry.reject(new Error(end.detail));
      waiting.clear();
    },
  });

  return {
    request(method, params) {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ id, method, ...(params === undefined ? {} : { params }) });
      });
    },
    notify: (method, params) => send({ method, ...(params === undefined ? {} : { params }) }),
    close: () => channel.close(),
  };
}
