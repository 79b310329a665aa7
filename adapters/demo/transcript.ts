import { type Description, describe } from "./describe.js";
import type { Json } from "./peer.js";

/** One message as it crossed: between the client and the bridge, or the bridge and the server. */
export interface Crossing {
  readonly side: "client" | "server";
  /** `up` goes from the client towards the server. */
  readonly direction: "up" | "down";
  readonly message: Json;
  readonly description: Description;
}

export interface Transcript {
  record(side: Crossing["side"], direction: Crossing["direction"], text: string): void;
  /** What has come since the last call. */
  take(): readonly Crossing[];
  readonly all: readonly Crossing[];
}

export function createTranscript(): Transcript {
  const all: Crossing[] = [];
  const asked = new Map<string, string>();
  let taken = 0;
  return {
    record(side, direction, text) {
      const message = JSON.parse(text) as Json;
      const { id, method } = message;
      const key = (of: Crossing["direction"]) => `${side} ${of} ${JSON.stringify(id)}`;
      if (typeof method === "string" && id !== undefined) asked.set(key(direction), method);
      const question = asked.get(key(direction === "up" ? "down" : "up"));
      all.push({ side, direction, message, description: describe(message, question) });
    },
    take() {
      const fresh = all.slice(taken);
      taken = all.length;
      return fresh;
    },
    all,
  };
}
