import { describe, expect, it } from "vitest";
import { createCoupledRig, INITIALIZE, INITIALIZED } from "./coupled-rig.js";
import { agreement } from "./fake-link.js";

const call = (id: string, rest = ""): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t"${rest}}}`;

describe("requests of a coupled client", () => {
  it("shakes hands in the client's own words and answers in the server's", async () => {
    const rig = createCoupledRig();
    rig.say(INITIALIZE, "init");
    await rig.heard();
    expect(rig.link().sent).toEqual([INITIALIZE.replace('"id":"init"', '"id":1')]);
    rig.link().says(agreement(1, '{"tasks":{},"zzz":1.0}'), 1);
    expect(await rig.heard()).toEqual([
      `init = ${agreement(1, '{"tasks":{},"zzz":1.0}').replace('"id":1', '"id":"init"')}`,
    ]);
    expect(rig.front.handshake?.revision).toBe("2025-11-25");
    rig.say(INITIALIZED);
    await rig.heard();
    expect(rig.link().sent.at(-1)).toBe(INITIALIZED);
    expect(rig.link().events).toEqual(["established 2025-11-25"]);
  });

  it("mints ids anew and changes no other character, whatever the method", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    const odd = `{"params": {"n":9007199254740993, "x":1.0,"x":2e0, "s":"\\ud800"},\t"method":"vendor/odd","jsonrpc":"2.0","id":"7" ,"zzz":[ ]}`;
    rig.say(odd, "odd");
    rig.say('{"jsonrpc":"2.0","id":7,"method":"ping"}', "ping");
    expect(link.fresh()).toEqual([
      odd.replace('"id":"7" ', '"id":2'),
      '{"jsonrpc":"2.0","id":3,"method":"ping"}',
    ]);
    link.says('{"result":{"n":9007199254740993,"x":1.0},"extra":null,"jsonrpc":"2.0","id":3}', 3);
    link.says('{"jsonrpc":"2.0","id":2,"error":{"code":-32042,"message":"m","data":[1.0]}}', 2);
    expect(await rig.heard()).toEqual([
      'ping = {"result":{"n":9007199254740993,"x":1.0},"extra":null,"jsonrpc":"2.0","id":7}',
      'odd = {"jsonrpc":"2.0","id":"7","error":{"code":-32042,"message":"m","data":[1.0]}}',
    ]);
  });

  it("mints progress tokens anew and writes them back with their JSON type", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("1", ',"_meta":{"progressToken":"1","k":1.0}'), "one");
    rig.say(call("2", ',"_meta":{"progressToken":1}'), "two");
    rig.say(call("3"), "three");
    expect(link.fresh().slice(0, 2)).toEqual([
      call("2", ',"_meta":{"progressToken":2,"k":1.0}'),
      call("3", ',"_meta":{"progressToken":3}'),
    ]);
    const progress = (token: string): string =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1.0}}`;
    link.says(progress("2"), 2);
    link.says(progress("3"), 3);
    link.says(progress("4"), 4);
    link.says(progress('"2"'), 2);
    expect(await rig.heard()).toEqual([
      `one < ${progress('"1"')}`,
      `two < ${progress("1")}`,
      `one < ${progress('"1"')}`,
    ]);
  });

  it("keeps the progress token of a task after the answer that created it", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("1", ',"task":{"ttl":60000},"_meta":{"progressToken":"p"}'), "task");
    expect(link.fresh()).toEqual([call("2", ',"task":{"ttl":60000},"_meta":{"progressToken":2}')]);
    const created =
      '{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"t-1","status":"working"}}}';
    link.says(created, 2);
    const status =
      '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t-1","status":"working"}}';
    link.says(status);
    link.says(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":5}}',
    );
    expect(await rig.heard()).toEqual([
      `task = ${created.replace('"id":2', '"id":1')}`,
      `aside < ${status}`,
      'aside < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":5}}',
    ]);
  });

  it("tells the server of a cancellation with its own id and forgets the call", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call('"a"'), "a");
    rig.say(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"enough","k":1.0}}',
    );
    expect(link.events.at(-1)).toBe(
      'cancel 2 {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough","k":1.0}}',
    );
    link.says('{"jsonrpc":"2.0","id":2,"result":{}}', 2);
    expect(await rig.heard()).toEqual(["a gone"]);
    expect(rig.front.openCalls).toBe(0);
    expect(rig.gauge.open()).toBe(0);
  });

  it("hears of no cancellation of what is not open, nor of another JSON type", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("5"), "five");
    rig.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"5"}}');
    rig.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}');
    expect(link.events).toEqual(["established 2025-11-25"]);
    expect(rig.front.openCalls).toBe(1);
  });

  it("refuses an id that is in flight, and takes it again afterwards", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("5"), "first");
    rig.say(call("5.0"), "second");
    expect((await rig.heard()).map((line) => line.slice(0, 50))).toEqual([
      'second = {"jsonrpc":"2.0","id":5.0,"error":{"code"',
    ]);
    link.says('{"jsonrpc":"2.0","id":2,"result":{}}', 2);
    rig.say(call("5"), "third");
    expect(link.fresh()).toEqual([call("2"), call("3")]);
  });

  it("refuses what is more than one principal may have in flight", async () => {
    const rig = createCoupledRig({ limits: { maxInFlightPerPrincipal: 1 } });
    await rig.open();
    rig.say(call("1"), "first");
    rig.say(call("2"), "second");
    expect(await rig.heard()).toEqual([expect.stringMatching(/^second = .*too many requests/)]);
  });

  it("passes on what neither side explains, both ways", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    const up = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}';
    const odd = '{"jsonrpc":"2.0","method":"vendor/told","params":{"a":1.0}}';
    rig.say(up);
    rig.say(odd);
    expect(link.fresh()).toEqual([up, odd]);
    rig.say(call("1"), "one");
    link.says(odd, 2);
    link.says(odd, 99);
    link.says(odd);
    expect(await rig.heard()).toEqual([`one < ${odd}`, `aside < ${odd}`, `aside < ${odd}`]);
  });

  it("gives up a silent call after its time, and no earlier while progress comes", async () => {
    const rig = createCoupledRig({ limits: { requestTimeoutMs: 1_000, requestCeilingMs: 10_000 } });
    const link = await rig.open();
    rig.say(call("1", ',"_meta":{"progressToken":1}'), "one");
    await rig.clock.pass(900);
    link.says(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}',
      2,
    );
    await rig.clock.pass(900);
    expect(await rig.heard()).toHaveLength(1);
    await rig.clock.pass(200);
    const [line = ""] = await rig.heard();
    expect(line).toMatch(/^one = {"jsonrpc":"2.0","id":1,"error":{"code":-32603,/);
    expect(line).toContain("upstream-timeout");
    expect(link.events.at(-1)).toBe("cancel 2 timeout");
  });

  it("waits longer while the server waits for a person, up to the ceiling", async () => {
    const rig = createCoupledRig({ limits: { requestTimeoutMs: 1_000, requestCeilingMs: 5_000 } });
    const link = await rig.open();
    rig.say(call("1"), "one");
    link.says('{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}', 2);
    await rig.clock.pass(4_900);
    expect(await rig.heard()).toHaveLength(1);
    await rig.clock.pass(200);
    expect(await rig.heard()).toEqual([expect.stringContaining("upstream-timeout")]);
  });
});

describe("requests of a coupled server", () => {
  const elicit = (id: string, rest = ""): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"elicitation/create","params":{"message":"m"${rest}}}`;

  it("asks with the call the question came with, else aside, and answers under the server's id", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("1"), "one");
    link.fresh();
    link.says(elicit("0", ',"x":1.0'), 2);
    link.says('{"jsonrpc":"2.0","id":"0","method":"roots/list"}');
    expect(await rig.heard()).toEqual([
      `one < ${elicit("1", ',"x":1.0')}`,
      'aside < {"jsonrpc":"2.0","id":2,"method":"roots/list"}',
    ]);
    rig.say('{"jsonrpc":"2.0","id":2,"result":{"roots":[ ]}}');
    rig.say('{"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":"no","data":1.0}}');
    rig.say('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(link.fresh()).toEqual([
      '{"jsonrpc":"2.0","id":"0","result":{"roots":[ ]}}',
      '{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no","data":1.0}}',
    ]);
  });

  it("asks with the newest call that can be asked in, where the transport does not tell", async () => {
    const rig = createCoupledRig({ link: { associates: false } });
    const link = await rig.open();
    const logged =
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
    const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    rig.say(call("1"), "older");
    rig.say(call("2"), "newer");
    rig.say('{"jsonrpc":"2.0","id":3,"method":"tools/list"}', "list");
    for (const text of [elicit("9"), logged, changed]) link.says(text);
    expect(await rig.heard()).toEqual([
      `newer < ${elicit("1")}`,
      `newer < ${logged}`,
      `aside < ${changed}`,
    ]);
    link.says('{"jsonrpc":"2.0","id":3,"result":{}}');
    link.says('{"jsonrpc":"2.0","id":2,"result":{}}');
    link.says(elicit("10"));
    link.says('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}');
    expect((await rig.heard()).slice(2)).toEqual([
      `aside < ${elicit("2")}`,
      'aside < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    ]);
  });

  it("carries the client's progress, and that of a task the client made of the question", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    link.says(elicit("4", ',"task":{},"_meta":{"progressToken":"tok"}'));
    expect(await rig.heard()).toEqual([
      `aside < ${elicit("1", ',"task":{},"_meta":{"progressToken":1}')}`,
    ]);
    const progress = (token: string): string =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`;
    rig.say(progress("1"));
    rig.say('{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"c-1","status":"working"}}}');
    rig.say(progress("1"));
    rig.say(progress("2"));
    expect(link.fresh()).toEqual([
      progress('"tok"'),
      '{"jsonrpc":"2.0","id":4,"result":{"task":{"taskId":"c-1","status":"working"}}}',
      progress('"tok"'),
    ]);
  });

  it("takes a question back under the client's number, with the server's own words", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("1"), "one");
    link.says(elicit('"q"'), 2);
    link.says(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"late","k":1.0}}',
      2,
    );
    link.says(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}',
    );
    expect((await rig.heard()).slice(1)).toEqual([
      'one < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"late","k":1.0}}',
    ]);
    link.fresh();
    rig.say('{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}');
    expect(link.fresh()).toEqual([]);
  });

  it("refuses a server that asks more than may be open", async () => {
    const rig = createCoupledRig({ limits: { maxInFlightPerPrincipal: 1 } });
    const link = await rig.open();
    link.says(elicit("1"));
    link.says(elicit("2"));
    expect(await rig.heard()).toHaveLength(1);
    expect(link.fresh()).toEqual([expect.stringMatching(/"id":2,"error":{"code":-32603/)]);
  });
});

describe("the end of a coupled session", () => {
  it("cancels what is open, answers nothing more and closes the conversation", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("1"), "one");
    rig.front.close();
    rig.front.close();
    await rig.sessions.close();
    expect(link.events).toEqual([
      "established 2025-11-25",
      "cancel 2 the client's session has ended",
      "close",
    ]);
    rig.say(call("2"), "two");
    link.says('{"jsonrpc":"2.0","id":2,"result":{}}', 2);
    expect(await rig.heard()).toEqual(["one gone", "two gone"]);
    expect([rig.sessions.coupled, rig.gauge.open(), rig.clock.pending]).toEqual([0, 0, 0]);
  });

  it("lets calls finish while it drains, but none that waits for the client", async () => {
    const rig = createCoupledRig();
    const link = await rig.open();
    rig.say(call("1"), "one");
    link.fresh();
    link.says('{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}', 2);
    let drained = 0;
    void rig.front.drain().then(() => drained++);
    void rig.front.drain().then(() => drained++);
    await rig.heard();
    link.says('{"jsonrpc":"2.0","id":6,"method":"roots/list"}', 2);
    expect(link.fresh()).toEqual([
      expect.stringMatching(/"id":5,"error":{"code":-32603,.*answers nothing more/),
      expect.stringMatching(/"id":6,"error":{"code":-32603/),
    ]);
    expect(drained).toBe(0);
    link.says('{"jsonrpc":"2.0","id":2,"result":{"isError":true}}', 2);
    expect(await rig.heard()).toEqual(['one = {"jsonrpc":"2.0","id":1,"result":{"isError":true}}']);
    expect(drained).toBe(2);
  });

  it("leaves no timer behind", async () => {
    const rig = createCoupledRig();
    await rig.open();
    rig.say(call("1"), "one");
    expect(rig.clock.pending).toBe(1);
    rig.front.close();
    await rig.sessions.close();
    expect(rig.clock.pending).toBe(0);
  });
});
