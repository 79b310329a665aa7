import { createSealer } from "../../adapters/system/sealer.js";
import {
  type Bridge,
  type BridgeOptions,
  createBridge,
  type HttpHeaders,
} from "../../src/index.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { createManualClock, type ManualClock, settle } from "../support/manual-clock.js";
import { ask, type RecordedReply } from "../support/recorded-reply.js";
import { createFakeChannel, createRecordingJournal, type FakeChannel } from "../upstream/fakes.js";

/** A server behind a channel, played by a function: what it says to one message. */
export type Play = (message: Heard, say: (text: string) => void) => void;

export interface Heard {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly requestId?: number };
  readonly result?: unknown;
}

export interface Rig {
  readonly bridge: Bridge;
  readonly clock: ManualClock;
  readonly journal: ReturnType<typeof createRecordingJournal>;
  /** Conversations with the server, the newest last. */
  readonly channels: readonly FakeChannel[];
  /** Everything the server heard, over all conversations. */
  readonly heard: readonly Heard[];
  /** A request of a modern client; the capabilities are those of its envelope. */
  modern(id: number, method: string, params: object, capabilities?: object): RecordedReply;
  /** A request or notification of a legacy client. */
  legacy(message: object, headers?: HttpHeaders): RecordedReply;
  http(request: Parameters<typeof ask>[1]): RecordedReply;
}

export const answer = (id: number | undefined, result: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result });

/** What every legacy server says; the rest is the test's. */
export function legacyServer(play: Play): Play {
  return (message, say) => {
    const { id, method } = message;
    if (method === "initialize") {
      say(
        answer(id, {
          protocolVersion: "2025-11-25",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "played", version: "1" },
        }),
      );
    } else if (method === "server/discover") {
      say(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
    } else if (method === "tools/list") say(answer(id, { tools: [] }));
    else play(message, say);
  };
}

/** A whole bridge in front of a played server, without time and without a network. */
export function createRig(play: Play, options: Partial<BridgeOptions> = {}): Rig {
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const channels: FakeChannel[] = [];
  const heard: Heard[] = [];
  const bridge = createBridge({
    clock,
    journal,
    entropy: createCountingEntropy(),
    sealer: createSealer(),
    target: {
      type: "channel",
      name: "played",
      spawns: true,
      async open() {
        const channel = createFakeChannel((text) => {
          const message = JSON.parse(text) as Heard;
          heard.push(message);
          queueMicrotask(() => play(message, (said) => channel.says(said)));
        });
        channels.push(channel);
        return channel;
      },
    },
    ...options,
  });
  const http: Rig["http"] = (request) => ask(bridge.handle, request);
  return {
    bridge,
    clock,
    journal,
    channels,
    heard,
    http,
    modern(id, method, params, capabilities = {}) {
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
      };
      const { name } = params as { name?: string };
      return http({
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }),
        headers: {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(name === undefined ? {} : { "mcp-name": name }),
        },
      });
    },
    legacy: (message, headers = {}) =>
      http({ body: JSON.stringify({ jsonrpc: "2.0", ...message }), headers }),
  };
}

/** Lets a conversation go as far as it goes without time. */
export async function talkOn(rounds = 10): Promise<void> {
  for (let round = 0; round < rounds; round++) await settle();
}
