import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { createRig, EVERYTHING, type Rig, type RigOptions } from "./upstream-rig.js";

const FORM = { message: "Name?", requestedSchema: { type: "object", properties: {} } };
const SAMPLE = { messages: [], maxTokens: 10 };
const ACCEPT = { action: "accept", content: { name: "Ada" } };
const SAMPLED = { role: "assistant", model: "m", content: { type: "text", text: "hi" } };

function request(rig: Rig): SeenRequest {
  return rig.server.last("tools/call");
}

/** A call whose server has asked one question; the client has it. */
async function parked(options: RigOptions = {}) {
  const rig = createRig(options);
  const first = rig.call();
  await settle();
  const question = rig.server.session.ask("elicitation/create", FORM, request(rig));
  await rig.clock.pass(50);
  return { ...rig, rig, first, question, state: first.state() };
}

describe("a question in the middle of a call", () => {
  it("ends the round with input_required; the retry brings the answer and gets the result", async () => {
    const { call, server, rig, first, question, state } = await parked();
    expect(first.result()).toEqual({
      resultType: "input_required",
      inputRequests: { e1: { method: "elicitation/create", params: FORM } },
      requestState: expect.any(String),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } },
    });
    const retry = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(server.session.answerTo(question)).toEqual(ACCEPT);
    expect(retry.outcome).toBeUndefined();
    server.session.reply(request(rig), { content: [] });
    await settle();
    expect(retry.result()).toMatchObject({ resultType: "complete", content: [] });
    expect(server.requests).toHaveLength(1);
  });

  it("asks in one round what a server asks in parallel, and strips what only legacy has", async () => {
    const rig = createRig({ limits: { coalesceMs: 50 } });
    const first = rig.call({ capabilities: EVERYTHING });
    await rig.clock.pass(50);
    const cause = request(rig);
    const task = { ttl: 1 };
    const url = { mode: "url", url: "https://x/", elicitationId: "id-1", message: "m", task };
    rig.server.session.ask("roots/list", undefined, cause);
    await rig.clock.pass(20);
    rig.server.session.ask("sampling/createMessage", SAMPLE, cause);
    rig.server.session.ask("elicitation/create", url, cause);
    await rig.clock.pass(30);
    expect(first.result().inputRequests).toEqual({
      r1: { method: "roots/list", params: {} },
      s1: { method: "sampling/createMessage", params: SAMPLE },
      e1: {
        method: "elicitation/create",
        params: { mode: "url", url: "https://x/", message: "m" },
      },
    });
  });

  it("returns the result alone when the server finishes before the round ends", async () => {
    const rig = createRig();
    const round = rig.call();
    await settle();
    const question = rig.server.session.ask("elicitation/create", FORM, request(rig));
    rig.server.session.reply(request(rig), { content: [], n: 1 });
    await settle();
    expect(round.result()).toMatchObject({ resultType: "complete", n: 1 });
    expect(rig.server.session.answerTo(question)).toMatchObject({ error: { code: -32602 } });
  });

  it("gives questions in sequence a round each, with new keys and a new state", async () => {
    const { call, clock, server, rig, state } = await parked();
    const second = call({ state, responses: { e1: ACCEPT } });
    await settle();
    server.session.ask("elicitation/create", FORM, request(rig));
    await clock.pass(50);
    expect(second.keys()).toEqual(["e2"]);
    expect(second.state()).not.toBe(state);
  });

  it("keeps a question that comes while the client is away for the next round", async () => {
    const { call, clock, server, rig, state } = await parked();
    const late = server.session.ask("elicitation/create", FORM, request(rig));
    const second = call({ state, responses: { e1: ACCEPT, e2: ACCEPT } });
    await clock.pass(50);
    expect(server.session.answerTo(late)).toBeUndefined();
    expect(second.keys()).toEqual(["e2"]);
  });

  it("takes the key the server names, once", async () => {
    const rig = createRig();
    const round = rig.call();
    await settle();
    const hinted = { ...FORM, _meta: { "io.erabridge/input-key": "user_name", "com.acme/x": 1 } };
    rig.server.session.ask("elicitation/create", hinted, request(rig));
    rig.server.session.ask("elicitation/create", hinted, request(rig));
    await rig.clock.pass(50);
    expect(round.keys()).toEqual(["user_name", "e1"]);
    expect(round.result().inputRequests.user_name.params).toEqual({
      ...FORM,
      _meta: { "com.acme/x": 1 },
    });
  });

  it("answers hinted questions from answers that come without a state, and asks all others", async () => {
    const rig = createRig();
    const round = rig.call({ responses: { user_name: ACCEPT, e1: ACCEPT } });
    await settle();
    const hinted = { ...FORM, _meta: { "io.erabridge/input-key": "user_name" } };
    const known = rig.server.session.ask("elicitation/create", hinted, request(rig));
    const other = rig.server.session.ask("elicitation/create", FORM, request(rig));
    await rig.clock.pass(50);
    expect(rig.server.session.answerTo(known)).toEqual(ACCEPT);
    expect(rig.server.session.answerTo(other)).toBeUndefined();
    expect(round.keys()).toEqual(["e1"]);
  });

  it("refuses answers without a state that are no objects, before the server hears of the call", async () => {
    const rig = createRig();
    const wrong = rig.call({ responses: { user_name: 12345 } });
    const nothing = rig.call({ responsesText: "null" });
    await settle();
    expect(wrong.error()).toMatchObject({ code: -32602 });
    expect(nothing.error()).toMatchObject({ code: -32602 });
    expect(rig.server.sessions).toHaveLength(0);
  });

  it("asks in prompts/get and resources/read as well, and never in lists", async () => {
    const rig = createRig({ associates: true });
    const prompt = rig.call({ method: "prompts/get", params: { name: "p" } });
    const read = rig.call({ method: "resources/read", params: { uri: "x://a" } });
    const list = rig.call({ method: "tools/list", params: {} });
    await settle();
    const { session } = rig.server;
    session.ask("elicitation/create", FORM, rig.server.last("prompts/get"));
    session.ask("elicitation/create", FORM, rig.server.last("resources/read"));
    const refused = session.ask("elicitation/create", FORM, rig.server.last("tools/list"));
    await rig.clock.pass(50);
    expect(prompt.keys()).toEqual(["e1"]);
    expect(read.keys()).toEqual(["e1"]);
    expect(session.answerTo(refused)).toMatchObject({ error: { code: -32602 } });
    session.reply(rig.server.last("tools/list"), { tools: [] });
    await settle();
    expect(list.result()).toMatchObject({ tools: [] });
  });
});

describe("a retry", () => {
  it("with some of the answers delivers them and asks for the rest again, under the same keys", async () => {
    const rig = createRig();
    const first = rig.call();
    await settle();
    const one = rig.server.session.ask("elicitation/create", FORM, request(rig));
    const two = rig.server.session.ask("elicitation/create", FORM, request(rig));
    await rig.clock.pass(50);
    const second = rig.call({ state: first.state(), responses: { e2: ACCEPT, stranger: 1 } });
    await settle();
    expect(second.error()).toMatchObject({ code: -32602 });
    const third = rig.call({ state: first.state(), responses: { e2: ACCEPT, stranger: {} } });
    await rig.clock.pass(50);
    expect(rig.server.session.answerTo(two)).toEqual(ACCEPT);
    expect(rig.server.session.answerTo(one)).toBeUndefined();
    expect(third.keys()).toEqual(["e1"]);
    expect(third.state()).not.toBe(first.state());
  });

  it("that leaves a question unanswered three times declines it", async () => {
    const { call, clock, server, question, state } = await parked();
    const second = call({ state });
    await clock.pass(50);
    const third = call({ state: second.state() });
    await clock.pass(50);
    expect(server.session.answerTo(question)).toBeUndefined();
    const fourth = call({ state: third.state() });
    await clock.pass(50);
    expect(server.session.answerTo(question)).toEqual({ action: "cancel" });
    expect(fourth.outcome).toBeUndefined();
  });

  it.each([
    ["a wrong action", { action: "maybe" }],
    ["no action", {}],
    ["the old wrapping", { method: "elicitation/create", result: ACCEPT }],
    ["content that is no object", { action: "accept", content: 1 }],
  ])("with %s is refused by name of its key, and can be repeated", async (_, answer) => {
    const { call, server, question, state } = await parked();
    const bad = call({ state, responses: { e1: answer } });
    await settle();
    expect(bad.error()).toMatchObject({
      code: -32602,
      message: expect.stringContaining("e1"),
      data: { key: "e1" },
    });
    expect(server.session.answerTo(question)).toBeUndefined();
    call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(server.session.answerTo(question)).toEqual(ACCEPT);
  });

  it("is good once, at the same time and later", async () => {
    const { call, server, rig, state } = await parked();
    const winner = call({ state, responses: { e1: ACCEPT } });
    const twin = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(twin.error()).toMatchObject({ code: -32602, data: { reason: "consumed" } });
    server.session.reply(request(rig), { content: [] });
    await settle();
    expect(winner.result()).toMatchObject({ resultType: "complete" });
    const late = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(late.error()).toMatchObject({ code: -32602, data: { reason: "consumed" } });
    expect(server.session.log.filter((line) => line.startsWith("answer"))).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });

  it("of another request is refused and leaves the call parked", async () => {
    const { call, server, question, state } = await parked();
    const others = [
      call({ state, responses: { e1: ACCEPT }, params: { name: "other", arguments: {} } }),
      call({ state, responses: { e1: ACCEPT }, params: { name: "t", arguments: { a: 1 } } }),
      call({ state, responses: { e1: ACCEPT }, method: "prompts/get" }),
    ];
    await settle();
    for (const other of others) {
      expect(other.error()).toMatchObject({ code: -32602, data: { reason: "request-mismatch" } });
    }
    call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(server.session.answerTo(question)).toEqual(ACCEPT);
  });

  it("may write the same request in other characters, but not other large integers", async () => {
    const rig = createRig();
    const first = rig.call({
      paramsText: '{"name":"t","arguments":{"a":9007199254740993,"b":1.0},"_meta":{"x":1}}',
    });
    await settle();
    rig.server.session.ask("elicitation/create", FORM, request(rig));
    await rig.clock.pass(50);
    const state = first.state();
    const other = rig.call({
      state,
      paramsText: '{"name":"t","arguments":{"a":9007199254740992,"b":1}}',
    });
    await settle();
    expect(other.error()).toMatchObject({ data: { reason: "request-mismatch" } });
    const same = rig.call({
      state,
      responses: { e1: ACCEPT },
      paramsText: '{"arguments": {"b": 1, "a": 9007199254740993}, "name": "\\u0074"}',
    });
    await settle();
    expect(same.outcome).toBeUndefined();
  });

  it("of another principal, forged, or not readable is refused with one and the same text", async () => {
    const { call, clock, journal, server, question, state } = await parked();
    const foreign = call({ state, responses: { e1: ACCEPT }, principal: "mallory" });
    const forged = call({ state: `${state}-TAMPERED`, responses: { e1: ACCEPT } });
    const empty = call({ state: "", responses: { e1: ACCEPT } });
    await settle();
    expect(foreign.error()).toMatchObject({ code: -32602, data: { reason: "unknown" } });
    expect(forged.error()).toEqual(foreign.error());
    expect(empty.error()).toEqual(foreign.error());
    expect(journal.lines).toContain("warn foreign-request-state");
    expect(server.session.answerTo(question)).toBeUndefined();
    call({ state, responses: { e1: ACCEPT } });
    await clock.pass(0);
    expect(server.session.answerTo(question)).toEqual(ACCEPT);
  });

  it("after its time is refused; by then the server has been released", async () => {
    const { call, clock, server, rig, question, state, upstream } = await parked();
    await clock.pass(10 * 60_000);
    const id = request(rig).id;
    expect(server.session.log.slice(-2)).toEqual([`cancel ${id}`, `answer ${question}`]);
    expect(server.session.answerTo(question)).toEqual({ action: "cancel" });
    expect(upstream.stats()).toMatchObject({ calls: 0, parked: 0 });
    const late = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(late.error()).toMatchObject({ code: -32602, data: { reason: "expired" } });
    expect(server.requests).toHaveLength(1);
  });

  it("of a sampling round has two minutes, and its end tells the server that the user refused", async () => {
    const rig = createRig();
    rig.call({ capabilities: '{"sampling":{}}' });
    await settle();
    const question = rig.server.session.ask("sampling/createMessage", SAMPLE, request(rig));
    await rig.clock.pass(50 + 2 * 60_000);
    expect(rig.server.session.answerTo(question)).toMatchObject({ error: { code: -1 } });
    expect(rig.upstream.stats().parked).toBe(0);
  });

  it("after a restart of the bridge learns that the call is lost, and nothing runs again", async () => {
    const before = await parked();
    const after = createRig({
      upstream: { entropy: { token: () => "another instance" } },
    });
    const retry = after.call({ state: before.state, responses: { e1: ACCEPT } });
    await settle();
    expect(retry.error()).toMatchObject({ code: -32602, data: { reason: "lost" } });
    expect(after.server.sessions).toHaveLength(0);
  });

  it("whose client goes away cancels the call; the next one is told so", async () => {
    const { call, server, rig, state } = await parked();
    const retry = call({ state, responses: { e1: ACCEPT } });
    await settle();
    retry.leave();
    await settle();
    expect(server.session.cancelled).toEqual([request(rig).id]);
    const again = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(again.error()).toMatchObject({ code: -32602, data: { reason: "cancelled" } });
  });

  it("is judged by its own capabilities from then on", async () => {
    const { call, server, rig, state, clock } = await parked();
    const retry = call({ state, responses: { e1: ACCEPT }, capabilities: "{}" });
    await settle();
    const refused = server.session.ask("elicitation/create", FORM, request(rig));
    await clock.pass(50);
    expect(server.session.answerTo(refused)).toMatchObject({ error: { code: -32602 } });
    expect(retry.error()).toMatchObject({ code: -32021 });
  });

  it("gets a sampling answer of several blocks to an older server as one block", async () => {
    const rig = createRig({
      initialize: (init) =>
        init.session.reply(init, { protocolVersion: "2025-06-18", capabilities: { tools: {} } }),
    });
    const first = rig.call({ capabilities: '{"sampling":{}}' });
    await settle();
    const question = rig.server.session.ask("sampling/createMessage", SAMPLE, request(rig));
    await rig.clock.pass(50);
    const content = [{ type: "text", text: "hi" }];
    rig.call({
      state: first.state(),
      capabilities: '{"sampling":{}}',
      responses: { s1: { ...SAMPLED, content } },
    });
    await settle();
    expect(rig.server.session.answerTo(question)).toEqual(SAMPLED);
  });
});

describe("while a call is parked", () => {
  it("the server's result is kept for the retry, and its answers are not needed", async () => {
    const { call, server, rig, question, state, upstream } = await parked();
    server.session.reply(request(rig), { content: [], kept: true });
    await settle();
    const bare = call({ state });
    await settle();
    expect(bare.result()).toMatchObject({ resultType: "complete", kept: true });
    expect(server.session.answerTo(question)).toMatchObject({ error: { code: -32602 } });
    expect(upstream.stats()).toMatchObject({ calls: 0, parked: 0 });
    const again = call({ state });
    await settle();
    expect(again.error()).toMatchObject({ data: { reason: "consumed" } });
  });

  it("a kept result is dropped when nobody comes for it", async () => {
    const { clock, server, rig, upstream } = await parked();
    server.session.reply(request(rig), { content: [] });
    await clock.pass(10 * 60_000);
    expect(upstream.stats()).toMatchObject({ calls: 0, parked: 0 });
  });

  it("the newest progress and the wanted logs are kept for the retry", async () => {
    const rig = createRig({ associates: true });
    const first = rig.call({ wantsProgress: true, logLevel: "info" });
    await settle();
    const { session } = rig.server;
    session.reply(rig.server.last("logging/setLevel"), {});
    await settle();
    session.progress(request(rig), 1);
    session.ask("elicitation/create", FORM, request(rig));
    await rig.clock.pass(50);
    session.progress(request(rig), 2);
    session.progress(request(rig), 3);
    for (const level of ["debug", "info", "error"]) {
      session.tell("notifications/message", { level, data: level }, request(rig));
    }
    const second = rig.call({
      state: first.state(),
      responses: { e1: ACCEPT },
      wantsProgress: true,
      logLevel: "error",
    });
    await settle();
    expect(first.notices.map(({ params }) => params)).toEqual(['{"progress":1}']);
    expect(second.notices.map(({ params }) => params)).toEqual([
      '{"progress":3}',
      '{"level":"error","data":"error"}',
    ]);
  });

  it("pings are answered and the request timeout stands still", async () => {
    const { clock, server, rig, state, call } = await parked({
      limits: { requestTimeoutMs: 60_000 },
    });
    await clock.pass(5 * 60_000);
    expect(server.session.answerTo(server.session.ask("ping"))).toEqual({});
    const retry = call({ state, responses: { e1: ACCEPT } });
    await clock.pass(59_000);
    expect(retry.outcome).toBeUndefined();
    server.session.reply(request(rig), {});
    await settle();
    expect(retry.result()).toMatchObject({ resultType: "complete" });
  });

  it("a server that watches for progress of its question is kept awake", async () => {
    const rig = createRig();
    rig.call();
    await settle();
    const watched = { ...FORM, _meta: { progressToken: "p" } };
    rig.server.session.ask("elicitation/create", watched, request(rig));
    await rig.clock.pass(50 + 30_000);
    const texts = rig.server.session.texts.filter((text) => text.includes("progress"));
    expect(texts).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}',
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2}}',
    ]);
  });

  it("a server that watches a later question only is kept awake as well", async () => {
    const { clock, server, rig } = await parked();
    const watched = { ...FORM, _meta: { progressToken: 7 } };
    server.session.ask("elicitation/create", watched, request(rig));
    await clock.pass(15_000);
    expect(server.session.texts.at(-1)).toBe(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}',
    );
  });

  it("a question that the server takes back gets no answer", async () => {
    const { call, server, rig, question, state } = await parked();
    server.session.tell("notifications/cancelled", { requestId: JSON.parse(question) });
    const retry = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(server.session.answerTo(question)).toBeUndefined();
    server.session.reply(request(rig), { isError: true, content: [] });
    await settle();
    expect(retry.result()).toMatchObject({ isError: true });
  });

  it("the end of the session ends the call", async () => {
    const { call, server, state, upstream } = await parked();
    server.session.crash();
    await settle();
    expect(upstream.stats()).toMatchObject({ calls: 0, parked: 0 });
    const retry = call({ state, responses: { e1: ACCEPT } });
    await settle();
    expect(retry.error()).toMatchObject({ code: -32602, data: { reason: "lost" } });
    expect(server.requests).toHaveLength(1);
  });

  it("the end of the bridge releases the server", async () => {
    const { server, rig, question, upstream } = await parked();
    await upstream.close();
    expect(server.session.cancelled).toEqual([request(rig).id]);
    expect(server.session.answerTo(question)).toEqual({ action: "cancel" });
  });
});

describe("limits of parked calls", () => {
  it("hold per principal: the server is refused, and the call goes on with a remark", async () => {
    const rig = createRig({ associates: true, limits: { maxParkedPerPrincipal: 1 } });
    const rounds = [rig.call(), rig.call(), rig.call({ principal: "bob" })];
    await settle();
    const asked = rig.server.requests.map(({ session, ...call }) =>
      session.ask("elicitation/create", FORM, { ...call, session }),
    );
    await rig.clock.pass(50);
    const [first, second, bob] = rounds;
    expect(first?.keys()).toEqual(["e1"]);
    expect(bob?.keys()).toEqual(["e1"]);
    const [, refused] = rig.server.requests;
    if (refused === undefined) throw new Error();
    expect(refused.session.answerTo(asked[1] ?? "")).toMatchObject({ error: { code: -32602 } });
    refused.session.reply(refused, { content: [] });
    await settle();
    expect(second?.result()._meta["io.erabridge/notices"]).toMatchObject([
      { code: "input-not-available" },
    ]);
  });
});

describe("a capability the client did not declare", () => {
  it.each([
    ["elicitation/create", FORM, { elicitation: { form: {} } }],
    ["sampling/createMessage", SAMPLE, { sampling: {} }],
  ])(
    "%s is refused at once, the call is cancelled, and the client told",
    async (method, params, required) => {
      const rig = createRig({ associates: true });
      const round = rig.call({ capabilities: "{}" });
      await settle();
      const question = rig.server.session.ask(method, params, request(rig));
      await settle();
      expect(rig.server.session.answerTo(question)).toMatchObject({ error: {} });
      expect(rig.server.session.cancelled).toEqual([request(rig).id]);
      expect(round.outcome).toMatchObject({ type: "failed", cause: "refused" });
      expect(round.error()).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: required },
      });
    },
  );

  it("bare elicitation means forms: a URL is refused", async () => {
    const rig = createRig();
    const round = rig.call({ capabilities: '{"elicitation":{}}' });
    await settle();
    const url = { mode: "url", url: "https://x/", message: "m", elicitationId: "1" };
    const question = rig.server.session.ask("elicitation/create", url, request(rig));
    await settle();
    expect(rig.server.session.answerTo(question)).toMatchObject({ error: { code: -32602 } });
    expect(round.error().data).toEqual({ requiredCapabilities: { elicitation: { url: {} } } });
  });

  it("roots are refused without harm: such a server has its own way on", async () => {
    const rig = createRig({ associates: true });
    const round = rig.call({ capabilities: "{}" });
    await settle();
    const question = rig.server.session.ask("roots/list", undefined, request(rig));
    expect(rig.server.session.answerTo(question)).toMatchObject({ error: { code: -32601 } });
    rig.server.session.reply(request(rig), { content: [] });
    await settle();
    expect(round.result()).toMatchObject({ resultType: "complete" });
  });
});
