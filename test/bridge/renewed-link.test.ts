import { describe, expect, it } from "vitest";
import { createCoupledRig, INITIALIZE, INITIALIZED, unreachable } from "./coupled-rig.js";
import { agreement, type FakeLink } from "./fake-link.js";

const list = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`;
const done = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
const SESSION_GONE = { kind: "session-gone", detail: "unknown session", status: 404 } as const;

/** Answers the handshake that the bridge makes again, and whatever it asks to restore. */
function consent(link: FakeLink, refused: readonly string[] = []): void {
  for (const text of [...link.sent]) {
    const { id, method } = JSON.parse(text);
    if (id === undefined || id < 1_000_000_000) continue;
    if (refused.includes(method)) {
      link.says(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"no"}}`, id);
    } else link.says(method === "initialize" ? agreement(id) : done(id), id);
  }
}

const methods = (texts: readonly string[]): string[] =>
  texts.map((text) => JSON.parse(text).method);

describe("after the server has gone away", () => {
  it("the next request opens a new conversation with the handshake the client once made", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    first.ends("exit 1");
    await rig.heard();
    expect(rig.links).toHaveLength(1);
    rig.say(list(7), "list");
    await rig.heard();
    const second = rig.link(1);
    expect(second.sent).toHaveLength(1);
    const { id, ...rest } = JSON.parse(second.sent[0] ?? "");
    const { id: _, ...client } = JSON.parse(INITIALIZE);
    expect(rest).toEqual(client);
    expect(id).toBeGreaterThan(1_000_000_000);
    consent(second);
    await rig.heard();
    expect(second.sent.slice(1)).toEqual([INITIALIZED, list(2)]);
    expect(second.events).toEqual(["established 2025-11-25"]);
    second.says(done(2), 2);
    expect(await rig.heard()).toEqual([`list = ${done(7)}`]);
    expect(first.events.at(-1)).toBe("close");
  });

  it("a call it may have begun is reported lost and never repeated", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    rig.say(list(1), "one");
    first.ends("exit 1");
    const [line = ""] = await rig.heard();
    expect(line).toMatch(/^one = {"jsonrpc":"2.0","id":1,"error":{"code":-32603,/);
    expect(line).toContain("may have completed");
    expect(line).toContain('"reason":"upstream-lost"');
    rig.say(list(2), "two");
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    expect(rig.link(1).sent.at(-1)).toBe(list(3));
    expect(rig.links).toHaveLength(2);
  });

  it("its questions are taken back, and late answers to them reach nobody", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    first.says('{"jsonrpc":"2.0","id":0,"method":"roots/list"}');
    await rig.heard();
    first.ends("exit 1");
    expect(await rig.heard()).toEqual([
      'aside < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the server has gone"}}',
    ]);
    rig.say(list(1), "one");
    await rig.heard();
    consent(rig.link(1));
    rig.say('{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}');
    await rig.heard();
    expect(rig.link(1).sent.some((text) => text.includes('"roots"'))).toBe(false);
  });

  it("a server that asks during the handshake is answered before it agrees", async () => {
    const rig = createCoupledRig();
    (await rig.open()).ends();
    rig.say(list(1), "one");
    await rig.heard();
    rig.link(1).says('{"jsonrpc":"2.0","id":"p","method":"ping"}');
    expect(await rig.heard()).toEqual(['aside < {"jsonrpc":"2.0","id":1,"method":"ping"}']);
    rig.say(done(1));
    expect(rig.link(1).sent.at(-1)).toBe('{"jsonrpc":"2.0","id":"p","result":{}}');
  });

  it("requests wait in order for the new conversation, and a cancelled one is not sent", async () => {
    const rig = createCoupledRig();
    (await rig.open()).ends();
    rig.say(list(1), "one");
    rig.say(list(2), "two");
    rig.say('{"jsonrpc":"2.0","method":"vendor/told"}');
    rig.say(list(3), "three");
    rig.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}');
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    expect(rig.link(1).sent.slice(2)).toEqual([
      list(2),
      '{"jsonrpc":"2.0","method":"vendor/told"}',
      list(4),
    ]);
  });

  it("a client is told why the server cannot be opened, and may try again", async () => {
    const rig = createCoupledRig({
      opening(attempt) {
        if (attempt === 1) unreachable();
      },
    });
    (await rig.open()).ends();
    rig.say(list(1), "one");
    rig.say(list(2), "two");
    expect(await rig.heard()).toEqual([
      expect.stringMatching(/^one = .*cannot be started/),
      expect.stringMatching(/^two = .*cannot be started/),
    ]);
    rig.say(list(3), "three");
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    expect(rig.link(1).sent.at(-1)).toBe(list(4));
  });

  it("a handshake without an answer ends after its time, and its conversation with it", async () => {
    const rig = createCoupledRig({ limits: { startTimeoutMs: 1_000 } });
    (await rig.open()).ends();
    rig.say(list(1), "one");
    await rig.clock.pass(1_000);
    expect(await rig.heard()).toEqual([expect.stringMatching(/^one = .*handshake failed/)]);
    expect(rig.link(1).events.at(-1)).toBe("close");
  });

  it("a server that came back with another revision is of no use to the client", async () => {
    const rig = createCoupledRig();
    (await rig.open()).ends();
    rig.say(list(1), "one");
    await rig.heard();
    const { id } = JSON.parse(rig.link(1).sent[0] ?? "");
    rig.link(1).says(agreement(id, "{}", "2024-11-05"), id);
    expect(await rig.heard()).toEqual([expect.stringMatching(/^one = .*it speaks 2024-11-05 now/)]);
    expect(rig.link(1).events.at(-1)).toBe("close");
  });
});

describe("a server that forgot the session", () => {
  it("gets a request it refused untouched once more, in a new session", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    rig.say(list(1), "one");
    first.loses(2, SESSION_GONE);
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    expect(rig.link(1).sent.at(-1)).toBe(list(2));
    rig.link(1).says(done(2), 2);
    expect(await rig.heard()).toEqual([`one = ${done(1)}`]);
  });

  it("gets it twice at most", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    rig.say(list(1), "one");
    first.loses(2, SESSION_GONE);
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    rig.link(1).loses(2, SESSION_GONE);
    expect(await rig.heard()).toEqual([expect.stringMatching(/^one = .*"reason":"upstream-lost"/)]);
    expect(rig.links).toHaveLength(2);
  });

  it("settles the other calls of the old session for itself", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    rig.say(list(1), "refused");
    rig.say(list(2), "answered");
    rig.say(list(3), "cut");
    rig.say(list(4), "refused too");
    first.loses(2, SESSION_GONE);
    expect(first.events).not.toContain("close");
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    first.says(done(3), 3);
    first.loses(4, { kind: "broken", detail: "reset" });
    first.loses(5, SESSION_GONE);
    await rig.heard();
    expect(first.events.at(-1)).toBe("close");
    for (const id of [2, 5]) rig.link(1).says(done(id), id);
    expect((await rig.heard()).map((line) => line.slice(0, 14))).toEqual([
      'refused = {"js',
      "refused too = ",
    ]);
    expect(rig.links).toHaveLength(2);
  });

  it("is not believed about calls whose answer was lost", async () => {
    const rig = createCoupledRig();
    const first = await rig.open();
    rig.say(list(1), "one");
    first.loses(2, { kind: "broken", detail: "connection reset" });
    expect(await rig.heard()).toEqual([expect.stringContaining("may have completed")]);
    expect(first.sent.filter((text) => text.includes("tools/list"))).toHaveLength(1);
  });
});

describe("what the client had agreed with the server", () => {
  const LEVEL =
    '{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"warning"}}';
  const subscribe = (id: number, uri: string, word = "subscribe"): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"resources/${word}","params":{"uri":"${uri}"}}`;
  const CAPABILITIES =
    '{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true,"listChanged":true},"logging":{}}';

  const openWithHabits = async () => {
    const rig = createCoupledRig();
    const first = await rig.open(CAPABILITIES);
    rig.say(LEVEL, "level");
    rig.say(subscribe(1, "r://a"), "a");
    rig.say(subscribe(2, "r://b"), "b");
    rig.say(subscribe(3, "r://b", "unsubscribe"), "un-b");
    rig.say(subscribe(4, "r://c"), "c");
    for (const id of [2, 3, 4, 5]) first.says(done(id), id);
    first.says('{"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"no such"}}', 6);
    await rig.heard();
    return { rig, first };
  };

  it("is restored at once where the client waits for changes, and then it is told of all it may have missed", async () => {
    const { rig, first } = await openWithHabits();
    first.ends("exit 1");
    await rig.heard();
    const second = rig.link(1);
    consent(second);
    await rig.heard();
    expect(methods(second.sent)).toEqual([
      "initialize",
      "notifications/initialized",
      "logging/setLevel",
      "resources/subscribe",
    ]);
    expect(JSON.parse(second.sent[2] ?? "").params).toEqual({ level: "warning" });
    expect(JSON.parse(second.sent[3] ?? "").params).toEqual({ uri: "r://a" });
    expect(await rig.heard()).toEqual([]);
    consent(second);
    expect(await rig.heard()).toEqual([
      'aside < {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
      'aside < {"jsonrpc":"2.0","method":"notifications/resources/list_changed"}',
      'aside < {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r://a"}}',
    ]);
  });

  it("is restored with what the server does not refuse", async () => {
    const { rig, first } = await openWithHabits();
    first.ends("exit 1");
    await rig.heard();
    consent(rig.link(1));
    await rig.heard();
    consent(rig.link(1), ["logging/setLevel"]);
    expect(await rig.heard()).toHaveLength(3);
    expect(rig.journal.lines).toContain("warn not-restored");
  });

  it("leaves no timer when the session ends in the middle of it", async () => {
    const { rig, first } = await openWithHabits();
    first.ends("exit 1");
    await rig.heard();
    rig.front.close();
    await rig.sessions.close();
    expect(rig.clock.pending).toBe(0);
    expect(rig.link(1).events.at(-1)).toBe("close");
    expect(await rig.heard()).toEqual([]);
  });
});

describe("the end of the session", () => {
  it("closes a conversation that was still being opened", async () => {
    const rig = createCoupledRig();
    rig.say(INITIALIZE, "init");
    rig.front.close();
    await rig.heard();
    rig.front.close();
    await rig.sessions.close();
    expect(rig.links.every((link) => link.events.at(-1) === "close")).toBe(true);
    expect(rig.clock.pending).toBe(0);
  });
});
