import { describe, expect, test } from "vitest";
import { settle } from "../../support/manual-clock.js";
import { complete } from "../../support/scripted-service.js";
import { advertise } from "../legacy-talk.js";
import { eventsIn, startLegacyHttp } from "./legacy-conversation.js";

const initialize = (capabilities: object = {}, protocolVersion = "2025-11-25") => ({
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo: { name: "c", version: "1" } },
});

describe("a session", () => {
  test("begins with initialize, which brings its id", async () => {
    const talk = startLegacyHttp();
    const reply = talk.post(initialize());
    expect(reply.status).toBeUndefined();
    talk.describes[0]?.settle(advertise());
    await settle();
    expect(reply).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(reply.headers["mcp-session-id"]).toMatch(/^[\x21-\x7e]+$/);
    expect(JSON.parse(reply.body)).toMatchObject({
      id: 0,
      result: { protocolVersion: "2025-11-25" },
    });
    expect(talk.legacy.sessions).toBe(1);
  });

  test("does not begin when the server cannot be found", async () => {
    const talk = startLegacyHttp();
    const reply = talk.post(initialize());
    talk.describes[0]?.reject(new Error("down"));
    await settle();
    expect(reply.headers).not.toHaveProperty("mcp-session-id");
    expect(JSON.parse(reply.body)).toMatchObject({ id: 0, error: { code: -32603 } });
    expect(talk.legacy.sessions).toBe(0);
  });

  test("does not begin for a client that left before it had the id", async () => {
    const talk = startLegacyHttp();
    const reply = talk.post(initialize());
    reply.leave();
    talk.describes[0]?.settle(advertise());
    await settle();
    expect(talk.legacy.sessions).toBe(0);
  });

  test("is needed for everything else", () => {
    const talk = startLegacyHttp();
    for (const reply of [
      talk.post({ id: 3, method: "tools/list" }),
      talk.get({ accept: "text/event-stream" }),
      talk.del({}),
    ]) {
      expect(reply.status).toBe(400);
    }
    expect(JSON.parse(talk.post({ id: 3, method: "tools/list" }).body)).toMatchObject({ id: 3 });
  });

  test.each(["forged", "k.bm90aGluZw", ""])("is not made by the id %j", (id) => {
    const talk = startLegacyHttp();
    const headers = { "mcp-session-id": id };
    expect(talk.post({ id: 3, method: "tools/list" }, headers).status).toBe(404);
    expect(talk.post(initialize(), headers).status).toBe(404);
    expect(talk.get(headers).status).toBe(404);
    expect(talk.del(headers).status).toBe(404);
  });

  test("belongs to the principal that opened it", async () => {
    const talk = startLegacyHttp();
    const mine = await talk.open({ user: "a" });
    const stolen = { ...mine, "x-user": "b" };
    expect(talk.post({ id: 1, method: "tools/list" }, stolen).status).toBe(404);
    expect(talk.get(stolen).status).toBe(404);
    expect(talk.del(stolen).status).toBe(404);
    talk.post({ id: 1, method: "tools/list" }, mine);
    expect(talk.calls).toHaveLength(1);
    expect(talk.calls[0]?.operation.caller.principal).toBe("a");
  });

  test("ends with DELETE, which cancels what is under way", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    const call = talk.post({ id: 1, method: "tools/list" }, headers);
    const stream = talk.get(headers);
    expect(talk.del(headers).status).toBe(200);
    await settle();
    expect(talk.calls[0]?.signal.aborted).toBe(true);
    expect([call.ended, stream.ended]).toEqual([true, true]);
    expect(talk.post({ id: 2, method: "tools/list" }, headers).status).toBe(404);
    expect(talk.del(headers).status).toBe(404);
    expect(talk.legacy.sessions).toBe(0);
    talk.legacy.close();
    expect(talk.clock.pending).toBe(0);
  });

  test("is forgotten when it is idle, but not while something is under way or listened to", async () => {
    const talk = startLegacyHttp();
    const idle = await talk.open();
    const calling = await talk.open();
    const listening = await talk.open();
    talk.post({ id: 1, method: "tools/list" }, calling);
    talk.get(listening);
    await talk.clock.pass(45 * 60_000);
    expect(talk.legacy.sessions).toBe(2);
    expect(talk.post({ id: 2, method: "tools/list" }, idle).status).toBe(404);
    talk.calls[0]?.settle(complete("{}"));
    await talk.clock.pass(45 * 60_000);
    expect(talk.legacy.sessions).toBe(1);
  });

  test("gives way to a new one when there are too many, the longest idle first", async () => {
    const talk = startLegacyHttp({ limits: { maxFrontSessions: 2 } });
    const first = await talk.open();
    const second = await talk.open();
    talk.get(first);
    await talk.open();
    expect(talk.post({ id: 1, method: "tools/list" }, first).status).toBeUndefined();
    expect(talk.post({ id: 1, method: "tools/list" }, second).status).toBe(404);
  });

  test("is refused when all that there are are busy", async () => {
    const talk = startLegacyHttp({ limits: { maxFrontSessions: 1 } });
    talk.get(await talk.open());
    const reply = talk.post(initialize());
    talk.describes[0]?.settle(advertise());
    await settle();
    expect(reply.status).toBe(503);
    expect(talk.legacy.sessions).toBe(1);
  });
});

test("2,000 clients that open a session and vanish leave nothing after the idle time", async () => {
  const talk = startLegacyHttp();
  for (let client = 0; client < 2_000; client++) {
    const opening = talk.post(initialize());
    talk.describes.shift()?.settle(advertise('{"tools":{"listChanged":true}}'));
    await settle();
    talk.watches.at(-1)?.acknowledge("{}");
    await settle();
    const headers = { "mcp-session-id": opening.headers["mcp-session-id"] ?? "" };
    const params = { name: "t", _meta: { progressToken: 1 } };
    const call = talk.post({ id: 1, method: "tools/call", params }, headers);
    const stream = talk.get(headers);
    talk.calls.at(-1)?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    call.leave();
    stream.leave();
    talk.calls.at(-1)?.settle(complete('{"content":[]}'));
  }
  expect(talk.legacy.sessions).toBe(2_000);
  await talk.clock.pass(45 * 60_000);
  expect(talk.legacy.sessions).toBe(0);
  expect(talk.watches.every(({ signal }) => signal.aborted)).toBe(true);
  expect(talk.clock.pending).toBe(0);
});

describe("a session at another instance that holds the key", () => {
  test("goes on with the client's own capabilities", async () => {
    const first = startLegacyHttp({ instance: "one" });
    const headers = await first.open({ client: { elicitation: {} }, user: "a" });
    const second = startLegacyHttp({ instance: "two", clock: first.clock });
    second.post({ id: 1, method: "tools/call", params: { name: "t" } }, headers);
    second.describes[0]?.settle(advertise());
    await settle();
    expect(second.calls[0]?.operation.caller).toMatchObject({
      principal: "a",
      capabilities: '{"elicitation":{}}',
    });
    expect(second.legacy.sessions).toBe(1);
  });

  test("does not go on for another principal, after its time, or once it was ended there", async () => {
    const first = startLegacyHttp({ instance: "one" });
    const headers = await first.open({ user: "a" });
    const second = startLegacyHttp({ instance: "two", clock: first.clock });
    const call = { id: 1, method: "tools/list" };
    expect(second.post(call, { ...headers, "x-user": "b" }).status).toBe(404);
    expect(second.del(headers).status).toBe(200);
    expect(second.post(call, headers).status).toBe(404);
    const third = startLegacyHttp({ instance: "three", clock: first.clock });
    first.clock.advance(24 * 3_600_000);
    expect(third.post(call, headers).status).toBe(404);
    expect(second.legacy.sessions + third.legacy.sessions).toBe(0);
  });

  test("is unknown where the key is another", async () => {
    const first = startLegacyHttp({ instance: "one" });
    const headers = await first.open();
    const { createOpenSealer } = await import("./legacy-conversation.js");
    const second = startLegacyHttp({ instance: "two", sealer: createOpenSealer("x") });
    expect(second.post({ id: 1, method: "tools/list" }, headers).status).toBe(404);
  });

  test("does not go on when its handshake was too long for a header", async () => {
    const first = startLegacyHttp({ instance: "one" });
    const experimental = { long: "x".repeat(5_000) };
    const headers = await first.open({ client: { experimental } });
    expect(headers["mcp-session-id"]?.length).toBeLessThan(4_096);
    first.post({ id: 1, method: "tools/list" }, headers);
    expect(first.calls).toHaveLength(1);
    const second = startLegacyHttp({ instance: "two", clock: first.clock });
    expect(second.post({ id: 1, method: "tools/list" }, headers).status).toBe(404);
  });
});

describe("a request", () => {
  test("whose answer comes first is answered in JSON", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    const reply = talk.post({ id: 0, method: "tools/list" }, headers);
    talk.calls[0]?.settle(complete('{"resultType":"complete","tools":[]}'));
    await settle();
    expect(reply).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}',
      streamed: false,
    });
  });

  test("with progress is answered on a stream with event ids, primed for those who can take it", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    const params = { name: "t", _meta: { progressToken: 1 } };
    const reply = talk.post({ id: 1, method: "tools/call", params }, headers);
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    expect(reply.headers).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect(reply.body).toMatch(
      /^id: c_\S+_0\nretry: 1000\ndata: \n\nevent: message\nid: c_\S+_1\n/,
    );
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    expect(eventsIn(reply).map(({ data }) => data)).toMatchObject([
      { method: "notifications/progress" },
      { id: 1, result: { content: [] } },
    ]);
    expect(reply.ended).toBe(true);
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "of a client of %s is answered without a priming event",
    async (revision) => {
      const talk = startLegacyHttp();
      const headers = await talk.open({ revision });
      const params = { name: "t", _meta: { progressToken: 1 } };
      const reply = talk.post({ id: 1, method: "tools/call", params }, headers);
      talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
      expect(reply.body).toMatch(/^event: message\nid: c_\S+_1\n/);
    },
  );

  test("in which the server may ask is a stream from the start", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ client: { elicitation: {} } });
    expect(
      talk.post({ id: 1, method: "tools/call", params: { name: "t" } }, headers).streamed,
    ).toBe(true);
    expect(talk.post({ id: 2, method: "tools/list" }, headers).streamed).toBe(false);
  });

  test.each([
    ["2025-06-18", 5_000],
    ["2025-11-25", 250],
  ])(
    "that stays silent becomes a stream that is kept alive, at %s after %i ms",
    async (revision, ms) => {
      const talk = startLegacyHttp();
      const headers = await talk.open({ revision });
      const reply = talk.post({ id: 1, method: "tools/list" }, headers);
      await talk.clock.pass(ms - 1);
      expect(reply.status).toBeUndefined();
      await talk.clock.pass(1);
      expect(reply.streamed).toBe(true);
      const before = reply.body.length;
      await talk.clock.pass(15_000);
      expect(reply.body.slice(before)).toBe(": \n\n");
    },
  );

  test("of a client that takes JSON only is answered in JSON", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ client: { elicitation: {} } });
    const reply = talk.post(
      { id: 1, method: "tools/call", params: { name: "t" } },
      { ...headers, accept: "application/json" },
    );
    await talk.clock.pass(60_000);
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    expect(reply).toMatchObject({ status: 200, streamed: false });
  });

  test("that is cancelled ends without an answer", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    const reply = talk.post({ id: 1, method: "tools/list" }, headers);
    const cancelled = talk.post(
      { method: "notifications/cancelled", params: { requestId: 1 } },
      headers,
    );
    expect(cancelled.status).toBe(202);
    expect(talk.calls[0]?.signal.aborted).toBe(true);
    expect(reply).toMatchObject({ streamed: true, ended: true });
    expect(eventsIn(reply)).toEqual([]);
  });

  test.each([
    ["2025-11-25", undefined],
    ["2025-03-26", undefined],
    ["2026-07-28", undefined],
    ["2031-01-01", 400],
    ["newest", 400],
  ])("that names the revision %s has the status %s", async (revision, status) => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ revision: "2025-06-18" });
    const reply = talk.post(
      { id: 1, method: "tools/list" },
      { ...headers, "mcp-protocol-version": revision },
    );
    expect(reply.status).toBe(status);
  });
});

describe("questions", () => {
  const QUESTION = {
    type: "input-required",
    requests:
      '{"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}}',
    continuation: '"s"',
    result: "{}",
  } as const;

  test("go out on the stream of their call, and the answer is a POST of its own", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ client: { elicitation: {} } });
    const aside = talk.get(headers);
    const reply = talk.post({ id: 1, method: "tools/call", params: { name: "t" } }, headers);
    talk.calls[0]?.settle(QUESTION);
    await settle();
    expect(eventsIn(aside)).toEqual([]);
    expect(eventsIn(reply)[0]?.data).toMatchObject({ id: 1, method: "elicitation/create" });
    const answer = talk.post({ id: 1, result: { action: "decline" } }, headers);
    expect(answer).toMatchObject({ status: 202, body: "" });
    await settle();
    expect(talk.calls[1]?.operation.answers).toEqual({
      continuation: '"s"',
      responses: '{"who":{"action":"decline"}}',
    });
  });

  test.each([
    { id: 1, error: { code: -1, message: "no" } },
    { id: "r-7", result: { action: "decline" } },
    { id: 99, result: {} },
  ])("are answered with %j: accepted, whatever it carries", async (answer) => {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    expect(talk.post(answer, headers).status).toBe(202);
  });
});

describe("the stream for what belongs to no call", () => {
  const SERVER = '{"tools":{"listChanged":true}}';
  const change = { method: "notifications/tools/list_changed", params: undefined };

  async function open() {
    const talk = startLegacyHttp();
    const reply = talk.post(initialize());
    talk.describes.shift()?.settle(advertise(SERVER));
    await settle();
    talk.watches[0]?.acknowledge('{"toolsListChanged":true}');
    await settle();
    const headers = { "mcp-session-id": reply.headers["mcp-session-id"] ?? "" };
    talk.post({ method: "notifications/initialized" }, headers);
    return { talk, headers, changed: () => talk.watches[0]?.notices(change) };
  }

  test("brings changes, those before it was opened included", async () => {
    const { talk, headers, changed } = await open();
    changed();
    const stream = talk.get(headers);
    changed();
    expect(eventsIn(stream).map(({ data }) => data)).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
    ]);
  });

  test("is one: a second takes the place of the first, and nothing is told twice", async () => {
    const { talk, headers, changed } = await open();
    const first = talk.get(headers);
    changed();
    const second = talk.get(headers);
    changed();
    expect(first.ended).toBe(true);
    expect(eventsIn(first)).toHaveLength(1);
    expect(eventsIn(second)).toHaveLength(1);
  });

  test("goes on where it was cut", async () => {
    const { talk, headers, changed } = await open();
    const first = talk.get(headers);
    changed();
    const [seen] = eventsIn(first);
    first.leave();
    changed();
    changed();
    const second = talk.get({ ...headers, "last-event-id": seen?.id ?? "" });
    expect(eventsIn(second)).toHaveLength(2);
  });

  test("needs a client that takes events", async () => {
    const { talk, headers } = await open();
    expect(talk.get({ ...headers, accept: "application/json" }).status).toBe(406);
  });
});

describe("a client that was cut off in the middle of a call", () => {
  async function cut() {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    const params = { name: "t", _meta: { progressToken: 1 } };
    const reply = talk.post({ id: 1, method: "tools/call", params }, headers);
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    const [seen] = eventsIn(reply);
    reply.leave();
    return { talk, headers, reply, lastId: seen?.id ?? "" };
  }

  test("has cancelled nothing, and finds the answer when it comes back", async () => {
    const { talk, headers, lastId } = await cut();
    expect(talk.calls[0]?.signal.aborted).toBe(false);
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":2}' });
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    const resumed = talk.get({ ...headers, "last-event-id": lastId });
    expect(eventsIn(resumed).map(({ data }) => data)).toMatchObject([
      { params: { progress: 2 } },
      { id: 1, result: { content: [] } },
    ]);
    expect(resumed.ended).toBe(true);
  });

  test("finds it although the server had been silent so far", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open();
    const reply = talk.post({ id: 1, method: "tools/call", params: { name: "t" } }, headers);
    await talk.clock.pass(250);
    const [, primed = ""] = /^id: (\S+)/.exec(reply.body) ?? [];
    reply.leave();
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    const resumed = talk.get({ ...headers, "last-event-id": primed });
    expect(eventsIn(resumed)).toMatchObject([{ data: { id: 1, result: { content: [] } } }]);
  });

  test("may come back before the answer", async () => {
    const { talk, headers, lastId } = await cut();
    const resumed = talk.get({ ...headers, "last-event-id": lastId });
    expect(eventsIn(resumed)).toEqual([]);
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    expect(eventsIn(resumed)).toHaveLength(1);
    expect(resumed.ended).toBe(true);
  });

  test("is told to stop when there is nothing more to read", async () => {
    const { talk, headers, lastId } = await cut();
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    const [last] = eventsIn(talk.get({ ...headers, "last-event-id": lastId }));
    expect(talk.get({ ...headers, "last-event-id": last?.id ?? "" }).status).toBe(204);
  });

  test("finds nothing of another session, of another stream or of an id that never was", async () => {
    const { talk, headers, lastId } = await cut();
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    const other = await talk.open();
    const stolen = talk.get({ ...other, "last-event-id": lastId });
    expect([stolen.status, stolen.body.includes("result")]).toEqual([400, false]);
    expect(talk.get({ ...headers, "last-event-id": "c_t99_0" }).status).toBe(400);
    const fresh = talk.get({ ...headers, "last-event-id": "a_t99_7" });
    expect(eventsIn(fresh)).toEqual([]);
    expect(fresh.streamed).toBe(true);
  });

  test("finds nothing after the time or beyond the room that is kept for it", async () => {
    const { talk, headers, lastId } = await cut();
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await talk.clock.pass(10 * 60_000);
    expect(talk.get({ ...headers, "last-event-id": lastId }).status).toBe(400);
  });
});

test("a client that does not read is cut off and may come back", async () => {
  const talk = startLegacyHttp({ limits: { maxBacklogBytes: 10 } });
  const headers = await talk.open();
  const params = { name: "t", _meta: { progressToken: 1 } };
  const reply = talk.post({ id: 1, method: "tools/call", params }, headers);
  talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
  reply.backlog = 11;
  talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":2}' });
  expect(reply.destroyed).toBe(true);
  expect(talk.journal.events).toContain("slow-reader-cut");
  const [seen] = eventsIn(reply);
  const resumed = talk.get({ ...headers, "last-event-id": seen?.id ?? "" });
  expect(eventsIn(resumed)).toHaveLength(1);
});

describe("a batch", () => {
  const call = (id: number, method = "tools/list") => ({ jsonrpc: "2.0", id, method });
  const note = { jsonrpc: "2.0", method: "notifications/acme" };

  test("of requests is answered as one array where nothing streams", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ revision: "2025-03-26" });
    const reply = talk.post(JSON.stringify([call(1), note, call(2, "ping"), 7]), headers);
    expect(reply.status).toBeUndefined();
    talk.calls[0]?.settle(complete('{"tools":[]}'));
    await settle();
    expect(reply).toMatchObject({ status: 200, streamed: false });
    expect(JSON.parse(reply.body)).toMatchObject([
      { id: 2, result: {} },
      { id: null, error: { code: -32600 } },
      { id: 1, result: { tools: [] } },
    ]);
    expect(talk.notified).toHaveLength(1);
  });

  test("of requests is answered one by one where something streams", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ revision: "2025-03-26" });
    const params = { name: "t", _meta: { progressToken: 1 } };
    const reply = talk.post(
      JSON.stringify([call(2, "ping"), { ...call(1, "tools/call"), params }]),
      headers,
    );
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    talk.calls[0]?.settle(complete('{"content":[]}'));
    await settle();
    expect(eventsIn(reply).map(({ data }) => data)).toMatchObject([
      { id: 2, result: {} },
      { method: "notifications/progress" },
      { id: 1, result: {} },
    ]);
    expect(reply.ended).toBe(true);
  });

  test("of what has no answer is accepted", async () => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ revision: "2025-03-26" });
    const reply = talk.post(JSON.stringify([note, { jsonrpc: "2.0", id: 9, result: {} }]), headers);
    expect(reply).toMatchObject({ status: 202, body: "" });
  });

  test.each(["2025-06-18", "2025-11-25"])("does not exist at %s", async (revision) => {
    const talk = startLegacyHttp();
    const headers = await talk.open({ revision });
    const reply = talk.post(JSON.stringify([call(1)]), headers);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body)).toMatchObject({ error: { code: -32600 } });
  });

  test("cannot begin a session", () => {
    const talk = startLegacyHttp();
    const reply = talk.post(JSON.stringify([{ jsonrpc: "2.0", ...initialize() }]));
    expect(reply.status).toBe(400);
  });
});

test("the end leaves no session, no timer and no stream", async () => {
  const talk = startLegacyHttp();
  const headers = await talk.open();
  const call = talk.post({ id: 1, method: "tools/list" }, headers);
  const aside = talk.get(headers);
  talk.legacy.close();
  await settle();
  expect([call.ended, aside.ended]).toEqual([true, true]);
  expect(talk.post({ id: 2, method: "tools/list" }, headers).status).toBe(503);
  expect(talk.legacy.sessions).toBe(0);
  expect(talk.clock.pending).toBe(0);
});
