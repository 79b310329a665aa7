import { describe, expect, it } from "vitest";
import { advertise } from "../front/legacy-talk.js";
import { createCoupledRig, INITIALIZE, INITIALIZED, SENDER } from "./coupled-rig.js";
import { agreement } from "./fake-link.js";

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

/** A promise that the test settles. */
function deferred<T>() {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

describe("before the handshake", () => {
  it("answers pings and refuses everything else, without looking for the server", async () => {
    let looks = 0;
    const rig = createCoupledRig({
      find: async () => {
        looks += 1;
        return undefined;
      },
    });
    rig.say('{"jsonrpc":"2.0","id":"p","method":"ping"}', "ping");
    rig.say(LIST, "list");
    rig.say(INITIALIZED);
    expect(await rig.heard()).toEqual([
      'ping = {"jsonrpc":"2.0","id":"p","result":{}}',
      expect.stringMatching(/^list = .*"code":-32600.*not initialized/),
    ]);
    expect(looks).toBe(0);
  });
});

describe("while the server is being found", () => {
  it("holds what the client sends and passes it on in order", async () => {
    const found = deferred<void>();
    const rig = createCoupledRig({ find: (openLink) => found.promise.then(() => openLink) });
    rig.say(INITIALIZE, "init");
    rig.say(LIST, "list");
    rig.say('{"jsonrpc":"2.0","method":"vendor/told"}');
    rig.say('{"jsonrpc":"2.0","id":2,"method":"ping"}', "ping");
    expect(await rig.heard()).toEqual([]);
    expect(rig.front.openCalls).toBe(3);
    found.settle();
    await rig.heard();
    expect(rig.link().sent.map((text) => JSON.parse(text).method)).toEqual([
      "initialize",
      "tools/list",
      "vendor/told",
      "ping",
    ]);
  });

  it("takes back a request that is cancelled meanwhile", async () => {
    const found = deferred<void>();
    const rig = createCoupledRig({ find: (openLink) => found.promise.then(() => openLink) });
    rig.say(INITIALIZE, "init");
    rig.say(LIST, "list");
    rig.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    found.settle();
    expect(await rig.heard()).toEqual(["list gone"]);
  });

  it("refuses more than one principal may have in flight", async () => {
    const rig = createCoupledRig({
      limits: { maxInFlightPerPrincipal: 2 },
      find: () => deferred<undefined>().promise,
    });
    rig.say(INITIALIZE, "init");
    rig.say(LIST, "first");
    rig.say(LIST, "second");
    expect(await rig.heard()).toEqual([expect.stringMatching(/^second = .*too many requests/)]);
  });

  it("gives up everything when the client goes, and opens nothing afterwards", async () => {
    const found = deferred<void>();
    const rig = createCoupledRig({ find: (openLink) => found.promise.then(() => openLink) });
    rig.say(INITIALIZE, "init");
    rig.say(LIST, "list");
    rig.front.close();
    expect(await rig.heard()).toEqual(["init gone", "list gone"]);
    found.settle();
    rig.say(LIST, "late");
    expect(await rig.heard()).toEqual(["late gone"]);
    expect([rig.links.length, rig.front.openCalls, rig.clock.pending]).toEqual([0, 0, 0]);
  });

  it("drains only when the server is found and what was held is answered", async () => {
    const found = deferred<void>();
    const rig = createCoupledRig({ find: (openLink) => found.promise.then(() => openLink) });
    rig.say(INITIALIZE, "init");
    let drained = false;
    void rig.front.drain().then(() => {
      drained = true;
    });
    await rig.heard();
    found.settle();
    await rig.heard();
    expect(drained).toBe(false);
    rig.link().says(agreement(1), 1);
    expect(await rig.heard()).toHaveLength(1);
    expect(drained).toBe(true);
  });
});

describe("who keeps the session", () => {
  it("is the bridge where the server has none", async () => {
    const rig = createCoupledRig({ find: async () => undefined });
    rig.say(INITIALIZE, "init");
    await rig.heard();
    rig.service.describes[0]?.settle(advertise());
    expect(await rig.heard()).toEqual([expect.stringMatching(/^init = .*"serverInfo"/)]);
    expect([rig.links.length, rig.sessions.coupled]).toEqual([0, 0]);
  });

  it("is the bridge once there is no room for one more server session", async () => {
    const rig = createCoupledRig({ limits: { maxSessionsPerPrincipal: 1 } });
    await rig.open();
    expect(rig.sessions.coupled).toBe(1);
    const second = rig.sessions.open({ sender: SENDER, aside: () => undefined });
    rig.sayTo(second, INITIALIZE, "second");
    await rig.heard();
    expect(rig.service.describes).toHaveLength(1);
    expect(rig.journal.lines).toContain("warn session-not-coupled");
    rig.front.close();
    await rig.sessions.close();
    expect(rig.sessions.coupled).toBe(0);
  });

  it("is looked at again when the client tries again after a failure", async () => {
    const rig = createCoupledRig({
      find: async (openLink, attempt) => (attempt === 0 ? undefined : openLink),
    });
    rig.say(INITIALIZE, "first");
    await rig.heard();
    rig.service.describes[0]?.reject(new Error("down"));
    expect(await rig.heard()).toEqual([expect.stringMatching(/^first = .*"error"/)]);
    rig.say(INITIALIZE, "second");
    await rig.heard();
    rig.link().says(agreement(1), 1);
    expect(await rig.heard()).toEqual([expect.stringMatching(/^second = .*"result"/)]);
  });

  it("is not looked at again while a first handshake is under way", async () => {
    let looks = 0;
    const rig = createCoupledRig({
      find: async () => {
        looks += 1;
        return undefined;
      },
    });
    rig.say(INITIALIZE, "first");
    await rig.heard();
    rig.say(INITIALIZE.replace('"init"', '"again"'), "second");
    expect(await rig.heard()).toEqual([expect.stringMatching(/^second = .*"code":-32600/)]);
    rig.service.describes[0]?.settle(advertise());
    expect(await rig.heard()).toEqual([expect.stringMatching(/^first = .*"result"/)]);
    expect(looks).toBe(1);
  });

  it("changes when the server proves modern by not touching the handshake", async () => {
    const rig = createCoupledRig({
      find: async (openLink, attempt) => (attempt === 0 ? openLink : undefined),
    });
    rig.say(INITIALIZE, "init");
    rig.say(LIST, "list");
    await rig.heard();
    rig.link().loses(1, { kind: "not-sent", detail: "the server speaks the modern era" });
    rig.link().loses(2, { kind: "not-sent", detail: "the server speaks the modern era" });
    await rig.heard();
    expect(rig.link().events).toEqual(["close"]);
    rig.service.describes[0]?.settle(advertise());
    expect(await rig.heard()).toEqual([expect.stringMatching(/^init = .*"result"/)]);
    expect(rig.service.calls.map(({ operation }) => operation.method)).toEqual(["tools/list"]);
  });

  it("is asked for once more only: a second failure is the client's answer", async () => {
    const rig = createCoupledRig();
    rig.say(INITIALIZE, "init");
    for (const index of [0, 1]) {
      expect(await rig.heard()).toEqual([]);
      rig.link(index).loses(1, { kind: "not-sent", detail: "connection refused" });
    }
    expect(await rig.heard()).toEqual([
      expect.stringMatching(/^init = .*"id":"init","error":{"code":-32603,.*connection refused/),
    ]);
    expect(rig.links).toHaveLength(2);
  });
});

describe("a bridge that is going", () => {
  it("refuses new requests of sessions of both kinds and lets the others finish", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(LIST, "before");
    rig.sessions.drain();
    rig.say('{"jsonrpc":"2.0","id":2,"method":"tools/list"}', "after");
    link.says('{"jsonrpc":"2.0","id":2,"result":{}}', 2);
    expect(await rig.heard()).toEqual([
      expect.stringMatching(/^after = .*shutting down/),
      'before = {"jsonrpc":"2.0","id":1,"result":{}}',
    ]);
  });
});
