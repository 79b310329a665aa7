import { afterAll, beforeAll, expect, test } from "vitest";
import { createUndiciExchange } from "../../adapters/http/undici-exchange.js";
import { createChannelPair } from "../../adapters/memory/channel-pair.js";
import { createSystemClock } from "../../adapters/system/clock.js";
import { createSealer } from "../../adapters/system/sealer.js";
import { type Bridge, createBridge } from "../../src/index.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { type RawLegacyServer, startRawLegacyServer } from "../support/raw-legacy-server.js";
import { createRecordingJournal } from "../upstream/fakes.js";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
type Answer = any;

const journal = createRecordingJournal();
const http = createUndiciExchange();
const sessionsOfCalls: string[] = [];
let server: RawLegacyServer;
let bridge: Bridge;

beforeAll(async () => {
  server = await startRawLegacyServer(({ session }) => {
    sessionsOfCalls.push(session);
    return '{"content":[],"n":1.0}';
  });
  bridge = createBridge({
    clock: createSystemClock(),
    entropy: createCountingEntropy("t"),
    sealer: createSealer(),
    journal,
    target: {
      type: "http",
      name: "raw",
      url: server.url,
      exchange: http.exchange,
      headers: () => ({}),
    },
  });
});
afterAll(async () => {
  await bridge.close();
  await http.close();
  await server.close();
});

/** A legacy client on a channel, one request after the other; answers as texts. */
function connect() {
  const { left, right } = createChannelPair();
  let take: (text: string) => void = () => undefined;
  right.start({
    message: (text) => take(text),
    dropped: () => undefined,
    closed: () => undefined,
  });
  void bridge.accept(left);
  return {
    tell: (method: string) => right.send(JSON.stringify({ jsonrpc: "2.0", method })),
    ask: (id: number, method: string, params: object): Promise<string> => {
      const answer = new Promise<string>((resolve) => {
        take = resolve;
      });
      right.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return answer;
    },
    close: () => right.close(),
  };
}

const methodsSeen = (): string[] =>
  server.received.map((body) => (JSON.parse(body) as Answer).method);

test("a server that forgets its sessions is met again without the client's noticing", async () => {
  const client = connect();
  await client.ask(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  });
  client.tell("notifications/initialized");
  const expected = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"n":1.0}}`;
  expect(await client.ask(2, "tools/call", { name: "echo" })).toBe(expected(2));
  expect(journal.lines).toContain("info era-verdict");
  server.forget();
  expect(await client.ask(3, "tools/call", { name: "echo" })).toBe(expected(3));
  expect(await client.ask(4, "tools/call", { name: "echo" })).toBe(expected(4));

  expect(sessionsOfCalls).toHaveLength(3);
  const [first, second, third] = sessionsOfCalls;
  expect(second).not.toBe(first);
  expect(third).toBe(second);
  expect(methodsSeen()).toEqual([
    "server/discover",
    "initialize",
    "notifications/initialized",
    "tools/call",
    "tools/call",
    "initialize",
    "notifications/initialized",
    "tools/call",
    "tools/call",
  ]);
  await client.close();
  await expect.poll(() => server.sessions.size).toBe(0);
});
