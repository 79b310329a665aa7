import { describe, expect, test } from "vitest";
import { BridgeError } from "../../src/index.js";
import { settle } from "../support/manual-clock.js";
import { advertise, startLegacyTalk } from "./legacy-talk.js";

const SERVER = '{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}';

/** Opens a session whose server tells what the acknowledgement says. */
async function open(honoured = '{"toolsListChanged":true,"resourcesListChanged":true}') {
  const talk = startLegacyTalk();
  talk.say({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  talk.describes[0]?.settle(advertise(SERVER));
  await settle();
  talk.watches[0]?.acknowledge(honoured);
  const [opened] = await talk.heard();
  talk.say({ method: "notifications/initialized" });
  return { talk, opened };
}

describe("changes of lists", () => {
  test("are watched before the handshake is answered, and promised where the server agrees", async () => {
    const { talk, opened } = await open('{"toolsListChanged":true}');
    expect(talk.watches[0]?.interest).toEqual({
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: true,
      resourceSubscriptions: [],
      text: '{"toolsListChanged":true,"resourcesListChanged":true}',
    });
    expect(opened).toMatchObject({
      result: { capabilities: { tools: { listChanged: true }, resources: { subscribe: true } } },
    });
    expect(opened).not.toHaveProperty("result.capabilities.resources.listChanged");
  });

  test("reach the client without the id of a subscription", async () => {
    const { talk } = await open();
    talk.watches[0]?.notices({
      method: "notifications/tools/list_changed",
      params: '{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}',
    });
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}',
    ]);
  });

  test("are kept from a client that has not said it is ready", async () => {
    const talk = startLegacyTalk();
    talk.say({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    talk.describes[0]?.settle(advertise(SERVER));
    await settle();
    talk.watches[0]?.acknowledge("{}");
    await talk.heard();
    const changed = { method: "notifications/tools/list_changed", params: undefined };
    talk.watches[0]?.notices(changed);
    expect(await talk.heard()).toEqual([]);
    talk.say({ id: 1, method: "tools/list" });
    talk.watches[0]?.notices(changed);
    expect(await talk.heard()).toHaveLength(1);
  });

  test("do not keep the handshake waiting for a server that is silent about them", async () => {
    const talk = startLegacyTalk();
    talk.say({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    talk.describes[0]?.settle(advertise(SERVER));
    await talk.clock.pass(5_000);
    expect(await talk.heard()).toMatchObject([
      { id: 0, result: { capabilities: { tools: { listChanged: true } } } },
    ]);
    expect(talk.journal.events).toEqual(["listen-not-acknowledged"]);
  });

  test("do not fail the handshake when the server refuses to tell them", async () => {
    const talk = startLegacyTalk();
    talk.say({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    talk.describes[0]?.settle(advertise(SERVER));
    await settle();
    talk.watches[0]?.reject(new BridgeError("upstream-lost", "gone"));
    expect(await talk.heard()).toMatchObject([{ id: 0, result: {} }]);
    expect(talk.clock.pending).toBe(0);
  });

  test("are watched anew after the server ended that, and then everything may have changed", async () => {
    const { talk } = await open();
    talk.watches[0]?.end();
    await talk.clock.pass(30_000);
    expect(talk.watches).toHaveLength(2);
    talk.watches[1]?.acknowledge('{"toolsListChanged":true,"resourcesListChanged":true}');
    expect(await talk.heard()).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/resources/list_changed" },
    ]);
  });

  test("are no longer watched when the session is over", async () => {
    const { talk } = await open();
    await talk.finish(0);
    expect(talk.watches[0]?.signal.aborted).toBe(true);
  });
});

describe("a subscription", () => {
  const subscribe = (id: number, uri: string) => ({
    id,
    method: "resources/subscribe",
    params: { uri },
  });

  test("is answered when the server has acknowledged it, and brings its updates", async () => {
    const { talk } = await open();
    talk.say(subscribe(1, "x://a"));
    expect(await talk.heard()).toEqual([]);
    expect(talk.watches[1]?.interest).toMatchObject({
      resourceSubscriptions: ["x://a"],
      text: '{"resourceSubscriptions":["x://a"]}',
    });
    talk.watches[1]?.acknowledge('{"resourceSubscriptions":["x://a"]}');
    expect(await talk.heardTexts()).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}']);
    talk.watches[1]?.notices({
      method: "notifications/resources/updated",
      params: '{"uri":"x://a"}',
    });
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/resources/updated", params: { uri: "x://a" } },
    ]);
  });

  test("that the server does not honour is refused", async () => {
    const { talk } = await open();
    talk.say(subscribe(1, "x://a"));
    talk.watches[1]?.acknowledge("{}");
    expect(await talk.heard()).toMatchObject([
      { id: 1, error: { code: -32602, data: { uri: "x://a" } } },
    ]);
    expect(talk.watches[1]?.signal.aborted).toBe(true);
    talk.say(subscribe(2, "x://a"));
    expect(talk.watches).toHaveLength(3);
  });

  test("made twice is one, and its end is one", async () => {
    const { talk } = await open();
    talk.say(subscribe(1, "x://a"));
    talk.say(subscribe(2, "x://a"));
    expect(talk.watches).toHaveLength(2);
    talk.watches[1]?.acknowledge('{"resourceSubscriptions":["x://a"]}');
    expect(await talk.heard()).toMatchObject([{ id: 1 }, { id: 2 }]);
    talk.say({ id: 3, method: "resources/unsubscribe", params: { uri: "x://a" } });
    talk.say({ id: 4, method: "resources/unsubscribe", params: { uri: "x://never" } });
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","id":3,"result":{}}',
      '{"jsonrpc":"2.0","id":4,"result":{}}',
    ]);
    expect(talk.watches[1]?.signal.aborted).toBe(true);
    talk.watches[1]?.notices({
      method: "notifications/resources/updated",
      params: '{"uri":"x://a"}',
    });
    expect(await talk.heard()).toEqual([]);
  });

  test("of two resources brings the change of a part of both once", async () => {
    const { talk } = await open();
    for (const [id, uri] of [
      [1, "x://a"],
      [2, "x://b"],
    ] as const) {
      talk.say(subscribe(id, uri));
      talk.watches.at(-1)?.acknowledge(`{"resourceSubscriptions":["${uri}"]}`);
    }
    await talk.heard();
    const change = { method: "notifications/resources/updated", params: '{"uri":"x://c"}' };
    for (const watch of talk.watches.slice(1)) watch.notices(change);
    expect(await talk.heard()).toHaveLength(1);
    talk.watches[1]?.notices(change);
    expect(await talk.heard()).toHaveLength(1);
  });

  test("needs a uri", async () => {
    const { talk } = await open();
    talk.say({ id: 1, method: "resources/subscribe", params: {} });
    expect(await talk.heard()).toMatchObject([{ id: 1, error: { code: -32602 } }]);
  });
});
