import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { createRig, EVERYTHING, type Rig, type RigOptions } from "./upstream-rig.js";

const FORM = { message: "?", requestedSchema: { type: "object", properties: {} } };

function named(rig: Rig, name: string): SeenRequest {
  const found = rig.server.requests.find((request) => request.params?.name === name);
  if (found === undefined) throw new Error(`no call ${name}`);
  return found;
}

/** Calls by name, all at the server. */
async function running(names: readonly string[], options: RigOptions = {}) {
  const rig = createRig(options);
  const rounds = names.map((name) => rig.call({ params: { name } }));
  await settle();
  return { ...rig, rig, rounds };
}

describe("a question of the server", () => {
  it("on the stream of a call belongs to that call, however many run", async () => {
    const { rig, clock, server, rounds } = await running(["a", "b", "c"], { associates: true });
    server.session.ask("elicitation/create", FORM, named(rig, "b"));
    await clock.pass(50);
    expect(rounds.map(({ outcome }) => outcome?.type)).toEqual([
      undefined,
      "input-required",
      undefined,
    ]);
  });

  it("on the stream of a call that has ended is refused, not given to another one", async () => {
    const { rig, clock, server, rounds } = await running(["a", "b"], { associates: true });
    rounds[0]?.leave();
    await settle();
    const question = server.session.ask("elicitation/create", FORM, named(rig, "a"));
    await clock.pass(5_000);
    expect(server.session.answerTo(question)).toMatchObject({ error: { code: -32602 } });
    expect(rounds[1]?.outcome).toBeUndefined();
  });

  it("elsewhere belongs to the only call that can be asked", async () => {
    const { call, clock, server, rounds } = await running(["a"]);
    call({ method: "tools/list", params: {} });
    call({ method: "completion/complete", params: {} });
    await settle();
    server.session.ask("elicitation/create", FORM);
    await clock.pass(50);
    expect(rounds[0]?.keys()).toEqual(["e1"]);
  });

  it("elsewhere belongs to a parked call as well", async () => {
    const { call, clock, server, rounds } = await running(["a"]);
    server.session.ask("elicitation/create", FORM);
    await clock.pass(50);
    server.session.ask("elicitation/create", FORM);
    await clock.pass(50);
    const params = { name: "a" };
    const responses = { e1: { action: "decline" } };
    const second = call({ params, responses, state: rounds[0]?.state() ?? "" });
    await clock.pass(50);
    expect(second.keys()).toEqual(["e2"]);
  });

  it("never belongs to a call of another principal", async () => {
    const rig = createRig();
    const ann = rig.call({ principal: "ann" });
    await settle();
    const bob = rig.call({ principal: "bob", method: "tools/list", params: {} });
    await settle();
    const question = rig.server.sessions[1]?.ask("elicitation/create", FORM) ?? "";
    await rig.clock.pass(5_000);
    expect(rig.server.sessions[1]?.answerTo(question)).toMatchObject({ error: { code: -32602 } });
    expect(ann.outcome).toBeUndefined();
    expect(bob.outcome).toBeUndefined();
  });

  it("of several candidates waits until one is left", async () => {
    const { rig, clock, server, upstream, rounds } = await running(["a", "b", "c"]);
    server.session.ask("elicitation/create", FORM);
    await clock.pass(1_000);
    expect(upstream.stats().heldQuestions).toBe(1);
    server.session.reply(named(rig, "a"), { content: [] });
    server.session.reply(named(rig, "c"), { content: [] });
    await clock.pass(50);
    expect(rounds[1]?.keys()).toEqual(["e1"]);
    expect(rounds[1]?.result()._meta).not.toHaveProperty("io.erabridge/notices");
    expect(upstream.stats().heldQuestions).toBe(0);
  });

  it("does not wait for calls that started after it", async () => {
    const { rig, call, clock, server, rounds } = await running(["a", "b"]);
    server.session.ask("elicitation/create", FORM);
    call({ method: "prompts/get", params: { name: "late" } });
    await settle();
    server.session.reply(named(rig, "a"), { content: [] });
    await clock.pass(50);
    expect(rounds[1]?.keys()).toEqual(["e1"]);
  });

  it("of several candidates goes to the newest after a while, with a remark", async () => {
    const { clock, server, rounds, journal } = await running(["a", "b"]);
    server.session.ask("elicitation/create", FORM);
    await clock.pass(2_000);
    expect(rounds[1]?.outcome).toBeUndefined();
    await clock.pass(50);
    expect(rounds[0]?.outcome).toBeUndefined();
    expect(rounds[1]?.keys()).toEqual(["e1"]);
    expect(rounds[1]?.result()._meta["io.erabridge/notices"]).toMatchObject([
      { code: "attribution-uncertain" },
    ]);
    expect(journal.lines).toContain("warn attribution-uncertain");
  });

  it("is forgotten when it is withdrawn, or with its session", async () => {
    const { clock, server, upstream, rounds } = await running(["a", "b"]);
    server.session.ask("elicitation/create", FORM);
    const withdrawn = server.session.ask("elicitation/create", FORM);
    server.session.tell("notifications/cancelled", { requestId: JSON.parse(withdrawn) });
    expect(upstream.stats().heldQuestions).toBe(1);
    server.session.crash();
    await clock.pass(5_000);
    expect(upstream.stats().heldQuestions).toBe(0);
    expect(server.session.answerTo(withdrawn)).toBeUndefined();
    for (const { outcome } of rounds) expect(outcome).toMatchObject({ type: "failed" });
  });

  it("outside a call is refused at once, unless it is for roots", async () => {
    const { server, call } = createRig();
    call({ method: "tools/list", params: {} });
    await settle();
    for (const method of ["elicitation/create", "sampling/createMessage"]) {
      const question = server.session.ask(method, { ...FORM, messages: [] });
      expect(server.session.answerTo(question)).toMatchObject({ error: { code: -32602 } });
    }
  });
});

describe("calls that can be asked", () => {
  it("run in parallel until a question could not be attributed, one at a time afterwards", async () => {
    const { rig, call, clock, server, rounds } = await running(["a", "b"]);
    server.session.ask("elicitation/create", FORM);
    server.session.reply(named(rig, "a"), { content: [] });
    await clock.pass(50);
    const params = { name: "b" };
    call({ params, state: rounds[1]?.state() ?? "", responses: { e1: { action: "decline" } } });
    await settle();
    server.session.reply(named(rig, "b"), { content: [] });
    await settle();

    const later = ["c", "d"].map((name) => call({ params: { name } }));
    const list = call({ method: "tools/list", params: {} });
    const mute = call({ params: { name: "mute" }, capabilities: "{}" });
    await settle();
    expect(() => named(rig, "c")).not.toThrow();
    expect(() => named(rig, "mute")).not.toThrow();
    expect(() => named(rig, "d")).toThrow();
    named(rig, "c").session.ask("elicitation/create", FORM);
    await clock.pass(50);
    expect(later[0]?.keys()).toContain("e1");
    expect(later[1]?.outcome).toBeUndefined();
    expect(list.outcome).toBeUndefined();
    expect(mute.outcome).toBeUndefined();
    later[1]?.leave();
  });

  it("take turns from the start under `exclusive`: while the client of one is asked, the next runs", async () => {
    const rig = createRig({ upstream: { attribution: "exclusive" } });
    const rounds = ["a", "b"].map((name) => rig.call({ params: { name } }));
    await settle();
    expect(() => named(rig, "b")).toThrow();
    expect(rig.upstream.stats().waiting).toBe(1);
    const ofA = rig.server.session.ask("elicitation/create", FORM);
    await rig.clock.pass(50);
    expect(rounds[0]?.keys()).toEqual(["e1"]);
    expect(() => named(rig, "b")).not.toThrow();
    rig.server.session.ask("elicitation/create", FORM);
    await rig.clock.pass(50);
    expect(rounds[1]?.keys()).toEqual(["e1"]);
    expect(rig.server.session.answerTo(ofA)).toBeUndefined();
  });

  it("wait with the answers of their client until no other one is at work", async () => {
    const rig = createRig({ upstream: { attribution: "exclusive" } });
    const params = { name: "a" };
    const first = rig.call({ params });
    await settle();
    const question = rig.server.session.ask("elicitation/create", FORM);
    await rig.clock.pass(50);
    const other = rig.call({ params: { name: "b" } });
    const late = rig.call({ params: { name: "c" } });
    await settle();
    const responses = { e1: { action: "decline" } };
    const retry = rig.call({ params, responses, state: first.state() });
    const twin = rig.call({ params, responses, state: first.state() });
    await settle();
    expect(twin.error()).toMatchObject({ data: { reason: "consumed" } });
    expect(rig.server.session.answerTo(question)).toBeUndefined();
    rig.server.session.ask("elicitation/create", FORM);
    await rig.clock.pass(50);
    expect(other.keys()).toEqual(["e1"]);
    // A call that is under way goes before one that has not begun.
    expect(rig.server.session.answerTo(question)).toEqual({ action: "decline" });
    expect(() => named(rig, "c")).toThrow();
    rig.server.session.reply(named(rig, "a"), { content: [] });
    await settle();
    expect(retry.outcome?.type).toBe("complete");
    expect(() => named(rig, "c")).not.toThrow();
    late.leave();
  });

  it("get their answers in the end, whatever the others do, and are cancelled while they wait", async () => {
    for (const leaves of [false, true]) {
      const rig = createRig({ upstream: { attribution: "exclusive" } });
      const params = { name: "a" };
      const first = rig.call({ params });
      await settle();
      const question = rig.server.session.ask("elicitation/create", FORM);
      await rig.clock.pass(50);
      rig.call({ params: { name: "b" } });
      await settle();
      const responses = { e1: { action: "decline" } };
      const retry = rig.call({ params, responses, state: first.state() });
      await settle();
      if (leaves) retry.leave();
      await rig.clock.pass(5 * 60_000);
      expect(rig.server.session.cancelled.includes(named(rig, "a").id)).toBe(leaves);
      expect(rig.server.session.answerTo(question)).toEqual({
        action: leaves ? "cancel" : "decline",
      });
    }
  });

  it("are not confused with a parked call whose client stays away", async () => {
    const { rig, call, clock, server, rounds, upstream } = await running(["a"]);
    server.session.ask("elicitation/create", FORM);
    await clock.pass(50);
    const second = call({ params: { name: "b" } });
    await settle();
    server.session.ask("elicitation/create", FORM);
    await clock.pass(50);
    expect(rounds[0]?.keys()).toEqual(["e1"]);
    expect(second.keys()).toEqual(["e1"]);
    expect(second.result()._meta).not.toHaveProperty("io.erabridge/notices");
    expect(upstream.stats().heldQuestions).toBe(0);
    expect(named(rig, "b").session).toBe(named(rig, "a").session);
  });

  it("overflow into further sessions where the policy allows it", async () => {
    const rig = createRig({ upstream: { attribution: "exclusive", policy: "pool:2" } });
    const rounds = ["a", "b", "c"].map((name) => rig.call({ params: { name } }));
    await settle();
    expect(rig.server.sessions).toHaveLength(2);
    const [one, two] = [named(rig, "a"), named(rig, "b")];
    expect(one.session.index).not.toBe(two.session.index);
    expect(() => named(rig, "c")).toThrow();
    two.session.ask("elicitation/create", FORM);
    one.session.ask("elicitation/create", FORM);
    await rig.clock.pass(50);
    expect(rounds[0]?.keys()).toEqual(["e1"]);
    expect(rounds[1]?.keys()).toEqual(["e1"]);
    rounds[2]?.leave();
  });
});

describe("five calls at once, of which two ask", () => {
  const NAMES = ["quiet", "asks", "quiet", "asks", "quiet"];

  /** Quiet tools answer by themselves; tools that ask do so at once, and answer what they were told. */
  function server(): RigOptions {
    return {
      handle({ session, ...request }) {
        if (request.params.name === "asks") {
          session.ask("elicitation/create", { message: String(request.id) });
        } else session.reply({ ...request, session }, { content: [] });
      },
    };
  }

  /** The calls that ask, as the client sees their first round. */
  async function batch(rig: Rig) {
    const rounds = NAMES.map((name, n) => rig.call({ params: { name, n } }));
    await settle();
    const before = rig.server.requests.length;
    const quiet = rounds.filter((_, n) => NAMES[n] === "quiet");
    const asking = rounds.filter((_, n) => NAMES[n] === "asks");
    return { quiet, asking, before };
  }

  function requestOf(rig: Rig, n: number): SeenRequest {
    const found = rig.server.requests.findLast(({ params }) => params?.n === n);
    if (found === undefined) throw new Error(`no call ${n}`);
    return found;
  }

  it.each(["exclusive", "adaptive"] as const)(
    "each question reaches its own call: %s",
    async (attribution) => {
      const rig = createRig({ ...server(), upstream: { attribution } });
      for (let time = 0; time < 3; time++) {
        const { quiet, asking } = await batch(rig);
        await rig.clock.pass(3_000);
        await rig.clock.pass(3_000);
        for (const round of quiet) expect(round.outcome?.type).toBe("complete");
        for (const [index, round] of asking.entries()) {
          const n = index === 0 ? 1 : 3;
          const [asked] = Object.values(round.result().inputRequests) as { params: unknown }[];
          // The first time nobody can know under `adaptive`; it must be right from then on.
          if (time > 0 || attribution === "exclusive") {
            expect(asked?.params).toEqual({ message: String(requestOf(rig, n).id) });
          }
          const responses = Object.fromEntries(
            round.keys().map((key) => [key, { action: "decline" }]),
          );
          rig.call({ params: { name: "asks", n }, state: round.state(), responses });
          await settle();
          rig.server.session.reply(requestOf(rig, n), { content: [] });
          await settle();
        }
        expect(rig.upstream.stats()).toMatchObject({ calls: 0, sessions: 1 });
      }
    },
  );

  it("calls of tools that were never seen to ask stay parallel", async () => {
    const rig = createRig(server());
    await batch(rig);
    await rig.clock.pass(10_000);
    const slow = createRig();
    const names = ["a", "b", "quiet"];
    const first = names.map((name) => slow.call({ params: { name } }));
    await settle();
    slow.server.session.reply(named(slow, "quiet"), { content: [] });
    await settle();
    slow.server.session.ask("elicitation/create", FORM);
    await slow.clock.pass(5_000);
    expect(first[1]?.keys()).toEqual(["e1"]);
    const later = ["quiet", "quiet", "quiet", "new"].map((name) => slow.call({ params: { name } }));
    await settle();
    const running = slow.server.requests.slice(3).map(({ params }) => params.name);
    // Call `a` is still at work, so a tool that nobody knows has to wait.
    expect(running).toEqual(["quiet", "quiet", "quiet"]);
    slow.server.session.reply(named(slow, "a"), { content: [] });
    await settle();
    expect(named(slow, "new").params).toEqual({ name: "new" });
    for (const round of later) round.leave();
  });

  it("a question beside quiet calls belongs to the one that is not", async () => {
    const rig = createRig();
    rig.call({ params: { name: "quiet" } });
    await settle();
    rig.server.session.reply(named(rig, "quiet"), { content: [] });
    await settle();
    const rounds = ["quiet", "asks", "quiet"].map((name) => rig.call({ params: { name } }));
    await settle();
    rig.server.session.ask("elicitation/create", FORM);
    await rig.clock.pass(50);
    expect(rounds[1]?.keys()).toEqual(["e1"]);
    expect(rounds[1]?.result()._meta).not.toHaveProperty("io.erabridge/notices");
  });
});

describe("roots", () => {
  const roots = { roots: [{ uri: "file:///home", name: "home" }] };
  const ROOTS = '{"roots":{}}';

  it("asked with several calls under way are asked of the oldest", async () => {
    const rig = createRig({ limits: { coalesceMs: 10 } });
    const first = rig.call({ capabilities: EVERYTHING, params: { name: "a" } });
    const second = rig.call({ capabilities: EVERYTHING, params: { name: "b" } });
    await rig.clock.pass(10);
    rig.server.session.ask("roots/list");
    await rig.clock.pass(10);
    expect(first.keys()).toEqual(["r1"]);
    expect(second.outcome).toBeUndefined();
  });

  it("asked as soon as the session opens are asked of the client before its first call goes out", async () => {
    const rig = createRig({ onInitialized: (session) => session.ask("roots/list") });
    const first = rig.call({ capabilities: ROOTS });
    await rig.clock.pass(100);
    expect(first.keys()).toEqual(["r1"]);
    expect(rig.server.requests).toHaveLength(0);
    const retry = rig.call({ capabilities: ROOTS, state: first.state(), responses: { r1: roots } });
    await rig.clock.pass(50);
    expect(rig.server.session.log).toEqual([
      "initialize",
      "notifications/initialized",
      'answer "q1"',
      "tools/call",
    ]);
    expect(rig.server.session.answerTo('"q1"')).toEqual(roots);
    rig.server.session.reply(rig.server.last("tools/call"), { content: [] });
    await settle();
    expect(retry.outcome?.type).toBe("complete");
  });

  it("wait for the first call that can carry the question, minutes later", async () => {
    const rig = createRig({
      onInitialized: (session) => session.ask("roots/list"),
      handle: (request) => request.session.reply(request, { tools: [] }),
    });
    const list = rig.call({ method: "tools/list", params: {}, capabilities: ROOTS });
    await rig.clock.pass(5 * 60_000);
    expect(list.outcome?.type).toBe("complete");
    expect(rig.server.session.answerTo('"q1"')).toBeUndefined();
    const round = rig.call({ capabilities: ROOTS });
    await rig.clock.pass(50);
    expect(round.keys()).toEqual(["r1"]);
  });

  it("are refused when a request that cannot carry the question seems to wait for them", async () => {
    const rig = createRig({
      onInitialized: (session) => session.ask("roots/list"),
    });
    rig.call({ method: "tools/list", params: {}, capabilities: ROOTS });
    await rig.clock.pass(1_999);
    expect(rig.server.session.answerTo('"q1"')).toBeUndefined();
    await rig.clock.pass(1);
    expect(rig.server.session.answerTo('"q1"')).toMatchObject({ error: { code: -32601 } });
  });

  it("are refused at once on the stream of a request that cannot carry the question", async () => {
    const rig = createRig({ associates: true });
    rig.call({ method: "tools/list", params: {}, capabilities: ROOTS });
    await settle();
    const list = rig.server.last("tools/list");
    const question = rig.server.session.ask("roots/list", undefined, list);
    expect(rig.server.session.answerTo(question)).toMatchObject({ error: { code: -32601 } });
  });

  it("that the client told are known afterwards, to its own sessions only", async () => {
    const rig = createRig();
    const ask = { capabilities: ROOTS, principal: "ann" };
    const first = rig.call(ask);
    await rig.clock.pass(50);
    rig.server.session.ask("roots/list");
    await rig.clock.pass(50);
    rig.call({ ...ask, state: first.state(), responses: { r1: roots } });
    await settle();
    rig.server.session.reply(rig.server.last("tools/call"), {});
    await settle();
    const again = rig.server.session.ask("roots/list");
    expect(rig.server.session.answerTo(again)).toEqual(roots);

    rig.call({ method: "tools/list", params: {}, capabilities: ROOTS, principal: "bob" });
    await settle();
    const foreign = rig.server.session.ask("roots/list");
    await rig.clock.pass(100);
    expect(rig.server.session.index).toBe(1);
    expect(rig.server.session.answerTo(foreign)).toBeUndefined();
  });

  it("that the operator set are told to whoever asks outside a call", async () => {
    const rig = createRig({
      upstream: { staticRoots: '[{"uri":"file:///srv"}]' },
      onInitialized: (session) => session.ask("roots/list"),
    });
    rig.call({ method: "tools/list", params: {}, capabilities: "{}" });
    await settle();
    expect(rig.server.session.answerTo('"q1"')).toEqual({ roots: [{ uri: "file:///srv" }] });
    rig.call({ capabilities: "{}" });
    await settle();
    const during = rig.server.session.ask("roots/list");
    expect(rig.server.session.answerTo(during)).toEqual({ roots: [{ uri: "file:///srv" }] });
  });

  it("of a client without roots are refused at once", async () => {
    const rig = createRig({ onInitialized: (session) => session.ask("roots/list") });
    rig.call({ method: "tools/list", params: {}, capabilities: "{}" });
    await settle();
    expect(rig.server.session.answerTo('"q1"')).toMatchObject({ error: { code: -32601 } });
  });

  it("that the server stopped asking for before any call came are asked for on a new session", async () => {
    const rig = createRig({
      onInitialized: (session) => session.ask("roots/list"),
      handle: (request) => request.session.reply(request, {}),
    });
    rig.call({ method: "tools/list", params: {}, capabilities: ROOTS });
    await rig.clock.pass(60_000);
    rig.server.session.tell("notifications/cancelled", { requestId: "q1" });
    const round = rig.call({ capabilities: ROOTS });
    await rig.clock.pass(100);
    expect(round.keys()).toEqual(["r1"]);
    expect(rig.server.sessions.map(({ closed }) => closed)).toEqual([true, false]);
    expect(rig.server.requests.map(({ method }) => method)).toEqual(["tools/list"]);
  });

  it("wait for the next call when the one that was to carry the question goes away", async () => {
    const rig = createRig({ onInitialized: (session) => session.ask("roots/list") });
    const first = rig.call({ capabilities: ROOTS });
    await rig.clock.pass(60);
    first.leave();
    await settle();
    expect(rig.server.session.answerTo('"q1"')).toBeUndefined();
    const second = rig.call({ capabilities: ROOTS });
    await rig.clock.pass(50);
    expect(second.keys()).toEqual(["r1"]);
  });
});
