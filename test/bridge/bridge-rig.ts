import { createChannelPair, type PairedChannel } from "../../adapters/memory/channel-pair.js";
import { createSealer } from "../../adapters/system/sealer.js";
import { type Bridge, type BridgeOptions, createBridge } from "../../src/index.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { createManualClock, type ManualClock, settle } from "../support/manual-clock.js";
import { createRecordingJournal } from "../upstream/fakes.js";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
type Json = any;

/** One process of the server the test plays. */
export interface PlayedServer {
  /** What it was told, parsed, in order. */
  readonly heard: readonly Json[];
  say(message: object): void;
  /** The newest request of a method. */
  last(method: string): Json;
  crash(): void;
  readonly ended: boolean;
}

/** A client on a channel of memory. */
export interface PlayedClient {
  say(message: object): void;
  /** What it has received since the last look, parsed. */
  heard(): Promise<Json[]>;
  endInput(): void;
  readonly ended: boolean;
}

/** A bridge in front of a server on a channel, all of it on one manual clock. */
export interface BridgeRig {
  readonly bridge: Bridge;
  readonly clock: ManualClock;
  readonly journal: { readonly lines: readonly string[] };
  readonly servers: readonly PlayedServer[];
  server(index?: number): PlayedServer;
  connect(): PlayedClient;
  /** A legacy client that has shaken hands. */
  connectLegacy(): Promise<PlayedClient>;
  /** Whatever is still there: sessions, channels, timers, server processes. */
  leftovers(): Record<string, number>;
}

export type Play = (message: Json, server: PlayedServer) => void;

/** Answers as a legacy server does, tools/call but with what the test says. */
export const playLegacy: Play = ({ id, method }, server) => {
  if (id === undefined || method === "tools/call" || method === undefined) return;
  if (method === "initialize") {
    const capabilities = {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
    };
    const serverInfo = { name: "played", version: "1" };
    server.say({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
  } else if (method === "server/discover") {
    server.say({ id, error: { code: -32601, message: "method not found" } });
  } else server.say({ id, result: method === "tools/list" ? { tools: [] } : {} });
};

/** Answers discover as a modern server and refuses everything else. */
export const playModern: Play = ({ id, method }, server) => {
  if (id === undefined) return;
  if (method === "server/discover") {
    const result = {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: "private",
    };
    server.say({ id, result });
  } else if (method === "initialize") {
    const data = { supported: ["2026-07-28"], requested: "2025-11-25" };
    server.say({ id, error: { code: -32022, message: "unsupported", data } });
  } else {
    const result = { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" };
    server.say({ id, result });
  }
};

const INITIALIZE = {
  id: "init",
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "c", version: "1" },
  },
};

export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

function playServer(channel: PairedChannel, play: Play, cut: () => void): PlayedServer {
  const heard: Json[] = [];
  let ended = false;
  const server: PlayedServer = {
    heard,
    say: (message) => channel.send(JSON.stringify({ jsonrpc: "2.0", ...message })),
    last(wanted) {
      const found = heard.findLast(({ method }) => method === wanted);
      if (found === undefined) throw new Error(`the server heard no ${wanted}`);
      return found;
    },
    crash: cut,
    get ended() {
      return ended;
    },
  };
  channel.start({
    message(text) {
      const message = JSON.parse(text);
      heard.push(message);
      play(message, server);
    },
    dropped: () => undefined,
    closed() {
      ended = true;
    },
  });
  return server;
}

export function createBridgeRig(
  play: Play,
  options: Partial<BridgeOptions> = {},
  opening: (count: number) => Promise<void> = async () => undefined,
): BridgeRig {
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const servers: PlayedServer[] = [];
  const bridge = createBridge({
    clock,
    journal,
    entropy: createCountingEntropy("t"),
    sealer: createSealer(),
    target: {
      type: "channel",
      name: "played",
      spawns: true,
      async open() {
        await opening(servers.length);
        const { left, right, cut } = createChannelPair();
        servers.push(playServer(right, play, () => cut("exit 1")));
        return left;
      },
    },
    ...options,
  });

  const connect = (): PlayedClient => {
    const { left, right } = createChannelPair();
    const heard: Json[] = [];
    let seen = 0;
    let ended = false;
    right.start({
      message: (text) => void heard.push(JSON.parse(text)),
      dropped: () => undefined,
      closed() {
        ended = true;
      },
    });
    void bridge.accept(left);
    return {
      say: (message) => right.send(JSON.stringify({ jsonrpc: "2.0", ...message })),
      async heard() {
        await settle();
        await settle();
        const fresh = heard.slice(seen);
        seen = heard.length;
        return fresh;
      },
      endInput: () => void right.close(),
      get ended() {
        return ended;
      },
    };
  };

  return {
    bridge,
    clock,
    journal,
    servers,
    server(index = 0) {
      const found = servers.at(index);
      if (found === undefined) throw new Error(`there is no server ${index} of ${servers.length}`);
      return found;
    },
    connect,
    async connectLegacy() {
      const client = connect();
      client.say(INITIALIZE);
      await client.heard();
      client.say({ method: "notifications/initialized" });
      await client.heard();
      return client;
    },
    leftovers: () => ({
      ...bridge.stats(),
      timers: clock.pending,
      servers: servers.filter(({ ended }) => !ended).length,
    }),
  };
}
