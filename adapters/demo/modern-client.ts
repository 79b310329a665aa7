import type { Channel } from "../../src/index.js";
import { createPeer, type Json } from "./peer.js";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "demo-client", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, sampling: {}, roots: {} },
};

/** What the user, the model and the disk of the demonstration answer. */
const ANSWERS: Readonly<Record<string, (params: Json) => Json>> = {
  "elicitation/create": (params) => {
    const schema = params["requestedSchema"] as { properties: Json };
    const content = "guests" in schema.properties ? { guests: 4 } : { save: true };
    return { action: "accept", content };
  },
  "sampling/createMessage": () => ({
    role: "assistant",
    content: { type: "text", text: "The Belém Tower" },
    model: "demo-model",
  }),
  "roots/list": () => ({ roots: [{ uri: "file:///home/ana/trips", name: "trips" }] }),
};

interface InputRequest {
  readonly method: string;
  readonly params?: Json;
}

function answerAll(requests: Readonly<Record<string, InputRequest>>): Json {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [
      key,
      ANSWERS[request.method]?.(request.params ?? {}) ?? {},
    ]),
  );
}

/** An MCP client of revision 2026-07-28: no session, and questions come as results. */
export interface ModernClient {
  /** One request, retried with answers until its result is complete. */
  call(method: string, params?: Json, meta?: Json): Promise<Json>;
  close(): Promise<void>;
}

export function createModernClient(channel: Channel): ModernClient {
  const peer = createPeer(channel, () => ({}));
  return {
    async call(method, params = {}, meta = {}) {
      const base = { ...params, _meta: { ...ENVELOPE, ...meta } };
      let result = await peer.request(method, base);
      while (result["resultType"] === "input_required") {
        const requests = (result["inputRequests"] ?? {}) as Readonly<Record<string, InputRequest>>;
        const state = result["requestState"];
        result = await peer.request(method, {
          ...base,
          inputResponses: answerAll(requests),
          ...(state === undefined ? {} : { requestState: state }),
        });
      }
      return result;
    },
    close: () => peer.close(),
  };
}
