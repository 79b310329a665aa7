import { describe, expect, it } from "vitest";
import type { Interceptor } from "../../src/index.js";
import { settle } from "../support/manual-clock.js";
import {
  type BridgeRig,
  createBridgeRig,
  MODERN_META,
  type PlayedClient,
  playLegacy,
  playModern,
} from "./bridge-rig.js";

const CALL = { id: 1, method: "tools/call", params: { name: "t" } };
const modernCall = (id: number, extra: object = {}) => ({
  id,
  method: "tools/call",
  params: { name: "t", arguments: {}, _meta: MODERN_META, ...extra },
});

/** Ends the bridge; then every number of the rig must be zero. */
async function closeAll(rig: BridgeRig): Promise<void> {
  const closing = rig.bridge.close();
  await rig.clock.pass(0);
  await closing;
  await settle();
  const rest = Object.entries(rig.leftovers()).filter(([, count]) => count !== 0);
  expect(rest).toEqual([]);
}

const codes = (messages: readonly { id?: unknown; error?: { code: number } }[]) =>
  messages.map(({ id, error }) => [id, error?.code]);

describe("a legacy client in front of a legacy server", () => {
  it("has a session of its own there, found by probing or pinned", async () => {
    for (const options of [{}, { upstreamEra: "legacy" }]) {
      const rig = createBridgeRig(playLegacy, options);
      const client = await rig.connectLegacy();
      expect(rig.bridge.stats()["coupledSessions"]).toBe(1);
      client.say({ id: 5, method: "vendor/odd", params: { a: 1 } });
      await client.heard();
      expect(rig.server().last("vendor/odd").params).toEqual({ a: 1 });
      await closeAll(rig);
    }
  });

  it("goes on with a server that is silent on the probe", async () => {
    const rig = createBridgeRig((message, server) => {
      if (message.method !== "server/discover") playLegacy(message, server);
    });
    const client = await rig.connectLegacy();
    expect(rig.servers).toHaveLength(1);
    await rig.clock.pass(2_000);
    expect((await client.heard()).map(({ id }) => id)).toEqual(["init"]);
    expect(rig.servers).toHaveLength(1);
    expect(rig.bridge.stats()["coupledSessions"]).toBe(1);
    await closeAll(rig);
  });

  it("is served in the other era when a slow server turns out to be modern", async () => {
    let awake = false;
    const kept: (() => void)[] = [];
    const rig = createBridgeRig((message, server) => {
      // It refuses the handshake before it has answered the probe.
      if (awake) playModern(message, server);
      else kept.unshift(() => playModern(message, server));
    });
    const client = await rig.connectLegacy();
    await rig.clock.pass(2_000);
    expect(await client.heard()).toEqual([]);
    awake = true;
    for (const answer of kept) answer();
    const [answer] = await client.heard();
    expect([answer.id, answer.result.capabilities]).toEqual(["init", { tools: {} }]);
    expect(rig.bridge.stats()["coupledSessions"]).toBe(0);
    client.say({ id: 2, method: "tools/list" });
    expect((await client.heard())[0].result.tools).toEqual([]);
    expect(rig.servers).toHaveLength(1);
    await closeAll(rig);
  });

  it("is seen by every interceptor there is, and then has no session of its own", async () => {
    const seen: string[] = [];
    const watcher: Interceptor = (next) => ({
      ...next,
      relay(operation, notices, signal) {
        seen.push(operation.method);
        return next.relay(operation, notices, signal);
      },
    });
    const rig = createBridgeRig(playLegacy, { interceptors: [watcher] });
    const client = await rig.connectLegacy();
    client.say({ id: 2, method: "tools/list" });
    await client.heard();
    expect(seen).toContain("tools/list");
    expect(rig.bridge.stats()["coupledSessions"]).toBe(0);
    await closeAll(rig);
  });
});

describe("draining", () => {
  it("waits for the calls of coupled clients, and refuses new ones", async () => {
    const rig = createBridgeRig(playLegacy);
    const client = await rig.connectLegacy();
    client.say(CALL);
    await client.heard();
    expect(rig.bridge.stats()["requests"]).toBe(1);
    let drained = false;
    const draining = rig.bridge.drain().then(() => {
      drained = true;
    });
    client.say({ ...CALL, id: 2 });
    expect(codes(await client.heard())).toEqual([[2, -32603]]);
    expect(drained).toBe(false);
    rig.server().say({ id: rig.server().last("tools/call").id, result: { content: [] } });
    expect(codes(await client.heard())).toEqual([[1, undefined]]);
    await draining;
    await closeAll(rig);
  });

  it("takes no longer than its time", async () => {
    const rig = createBridgeRig(playLegacy, { limits: { drainMs: 1_000 } });
    const client = await rig.connectLegacy();
    client.say(CALL);
    await client.heard();
    const draining = rig.bridge.drain();
    await rig.clock.pass(1_000);
    await draining;
    await closeAll(rig);
  });
});

describe("closing leaves nothing", () => {
  const open = async (rig: BridgeRig): Promise<PlayedClient> => {
    const client = rig.connect();
    client.say(modernCall(1));
    await client.heard();
    return client;
  };

  it("of clients of both eras with calls, watches and parked calls", async () => {
    const rig = createBridgeRig(playLegacy);
    const modern = await open(rig);
    const server = rig.server();
    server.say({
      id: 9,
      method: "elicitation/create",
      params: { message: "m", requestedSchema: { type: "object", properties: {} } },
    });
    await rig.clock.pass(100);
    expect((await modern.heard())[0].result.resultType).toBe("input_required");
    modern.say({
      id: 2,
      method: "subscriptions/listen",
      params: {
        _meta: MODERN_META,
        notifications: { toolsListChanged: true, resourceSubscriptions: ["r://a"] },
      },
    });
    modern.say(modernCall(3));
    const legacy = await rig.connectLegacy();
    legacy.say(CALL);
    await legacy.heard();
    expect(rig.bridge.stats()).toMatchObject({ parked: 1, watchers: 1, coupledSessions: 1 });
    await closeAll(rig);
    expect([modern.ended, legacy.ended]).toEqual([true, true]);
  });

  it("after a drain that was not waited for", async () => {
    const rig = createBridgeRig(playLegacy);
    const legacy = await rig.connectLegacy();
    legacy.say(CALL);
    await open(rig);
    void rig.bridge.drain();
    await legacy.heard();
    await closeAll(rig);
  });

  it("of a server that was being started", async () => {
    let start: () => void = () => undefined;
    const rig = createBridgeRig(
      playLegacy,
      {},
      () =>
        new Promise((resolve) => {
          start = resolve;
        }),
    );
    const client = await rig.connectLegacy();
    const closing = rig.bridge.close();
    await settle();
    start();
    await closing;
    expect(client.ended).toBe(true);
    await closeAll(rig);
  });

  it("of a server that crashed while it was watched", async () => {
    const rig = createBridgeRig(playLegacy);
    const client = await rig.connectLegacy();
    client.say({ id: 1, method: "resources/subscribe", params: { uri: "r://a" } });
    await client.heard();
    rig.server().crash();
    await rig.clock.pass(1_000);
    expect(rig.servers).toHaveLength(2);
    expect(rig.server(1).last("resources/subscribe").params).toEqual({ uri: "r://a" });
    expect((await client.heard()).map(({ method }) => method)).toEqual([
      "notifications/tools/list_changed",
      "notifications/resources/list_changed",
      "notifications/resources/updated",
    ]);
    await closeAll(rig);
  });

  it("and takes no client afterwards", async () => {
    const rig = createBridgeRig(playLegacy);
    await rig.bridge.close();
    const client = rig.connect();
    client.say(modernCall(1));
    expect(await client.heard()).toEqual([]);
    expect(client.ended).toBe(true);
    await closeAll(rig);
  });
});

describe("the end of a client's input", () => {
  it("lets a call finish, and ends the server session with the conversation", async () => {
    const rig = createBridgeRig(playLegacy);
    const client = await rig.connectLegacy();
    client.say(CALL);
    await client.heard();
    client.endInput();
    await client.heard();
    expect(rig.server().ended).toBe(false);
    rig.server().say({ id: rig.server().last("tools/call").id, result: {} });
    await client.heard();
    expect(rig.server().ended).toBe(true);
    expect(rig.bridge.stats()).toMatchObject({ channels: 0, coupledSessions: 0 });
    await closeAll(rig);
  });
});
