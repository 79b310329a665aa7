import { describe, expect, it } from "vitest";
import { BridgeError } from "../../src/index.js";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { type CallOptions, createRig } from "./upstream-rig.js";

const done = (request: SeenRequest): void => request.session.reply(request, { content: [] });

describe("the session of a call", () => {
  it.each<[string, CallOptions, CallOptions]>([
    ["capabilities", { capabilities: "{}" }, { capabilities: '{"elicitation":{}}' }],
    ["principals", { principal: "ann" }, { principal: "bob" }],
    [
      "client software",
      { caller: { identity: '{"name":"a","version":"1"}' } },
      { caller: { identity: '{"name":"a","version":"2"}' } },
    ],
    ["affinities", { caller: { affinity: "one" } }, { caller: { affinity: "two" } }],
    ["anonymous callers", { caller: { anonymous: true } }, { caller: { anonymous: true } }],
  ])("is its own for other %s", async (_, one, two) => {
    const { call, server } = createRig({ handle: done });
    call(one);
    await settle();
    call(two);
    await settle();
    expect(server.sessions).toHaveLength(2);
  });

  it.each<[string, CallOptions, CallOptions]>([
    [
      "the short and the long form of form elicitation",
      { capabilities: '{"elicitation":{}}' },
      { capabilities: '{ "elicitation": {"form":{}} }' },
    ],
    [
      "another order of members",
      { capabilities: '{"sampling":{},"elicitation":{}}' },
      { capabilities: '{"elicitation":{},"sampling":{}}' },
    ],
    [
      "another title of the same software",
      { caller: { identity: '{"name":"a","version":"1","title":"A"}' } },
      { caller: { identity: '{"version":"1","name":"a"}' } },
    ],
    [
      "a renewed token",
      { caller: { authorization: "Bearer one" } },
      { caller: { authorization: "Bearer two" } },
    ],
  ])("is shared for %s", async (_, one, two) => {
    const { call, server } = createRig({ handle: done });
    call(one);
    await settle();
    call(two);
    await settle();
    expect(server.sessions).toHaveLength(1);
  });

  it("is opened once however many callers wait, and one who leaves leaves the others", async () => {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { call, server, upstream, caller } = createRig({ handle: done, beforeOpen: () => gate });
    const rounds = [call(), call({ method: "tools/list", params: {} }), call()];
    const described = upstream.describe(caller(), new AbortController().signal);
    await settle();
    rounds[0]?.leave();
    await settle();
    expect(rounds[0]?.outcome).toMatchObject({ cause: "cancelled" });
    go();
    await settle();
    expect(server.sessions).toHaveLength(1);
    expect((await described).revision).toBe("2025-11-25");
    for (const round of rounds.slice(1)) expect(round.outcome).toMatchObject({ type: "complete" });
    expect(server.requests).toHaveLength(2);
  });

  it("that cannot be opened is tried again after a pause that doubles, not at once", async () => {
    let attempts = 0;
    const { call, clock } = createRig({
      beforeOpen() {
        attempts += 1;
        throw new BridgeError("upstream-unavailable", "connection refused");
      },
    });
    const first = call();
    await settle();
    expect(first.error()).toMatchObject({ data: { reason: "upstream-unavailable" } });
    const second = call();
    await settle();
    expect(second.error()).toMatchObject({ data: { retryAfterMs: 500 } });
    expect(attempts).toBe(1);
    await clock.pass(500);
    call();
    await clock.pass(999);
    expect(attempts).toBe(2);
    call();
    await settle();
    expect(attempts).toBe(2);
    await clock.pass(1);
    call();
    await settle();
    expect(attempts).toBe(3);
  });

  it("is closed after its idle time, and used again before", async () => {
    const { call, clock, server, upstream } = createRig({ handle: done });
    call();
    await clock.pass(14 * 60_000);
    call();
    await clock.pass(14 * 60_000);
    expect(server.session.closed).toBe(false);
    await clock.pass(60_000);
    expect(server.session.closed).toBe(true);
    expect(upstream.stats().sessions).toBe(0);
    call();
    await settle();
    expect(server.sessions).toHaveLength(2);
  });

  it("is not closed while a call runs, is parked, or a watcher listens", async () => {
    const limits = { sessionIdleMs: 1_000, requestTimeoutMs: 60_000 };
    const rig = createRig({ limits, handle: () => {} });
    rig.call();
    await rig.clock.pass(5_000);
    expect(rig.server.session.closed).toBe(false);
    rig.server.session.ask("elicitation/create", { message: "?" });
    await rig.clock.pass(5_000);
    expect(rig.upstream.stats().parked).toBe(1);
    expect(rig.server.session.closed).toBe(false);

    const watching = createRig({ limits });
    const controller = new AbortController();
    const interest = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: false,
      resourceSubscriptions: [],
      text: "{}",
    };
    await watching.upstream.watch(interest, watching.caller(), () => {}, controller.signal);
    await watching.clock.pass(5_000);
    expect(watching.server.session.closed).toBe(false);
    controller.abort();
    await watching.clock.pass(1_000);
    expect(watching.server.session.closed).toBe(true);
  });
});

describe("a lost session", () => {
  it("that ten calls find gone is opened anew once, and each call is sent once more", async () => {
    const seen = new Map<string, number>();
    const { call, server } = createRig({
      associates: true,
      handle(request) {
        const { name } = request.params;
        seen.set(name, (seen.get(name) ?? 0) + 1);
        if (request.session.index > 0) done(request);
        else request.session.lose(request, { kind: "session-gone", detail: "404", status: 404 });
      },
    });
    const rounds = Array.from({ length: 10 }, (_, n) => call({ params: { name: `t${n}` } }));
    await settle();
    await settle();
    expect(server.sessions).toHaveLength(2);
    for (const round of rounds) expect(round.result()).toMatchObject({ resultType: "complete" });
    expect([...seen.values()]).toEqual(Array.from({ length: 10 }, () => 2));
    const remarks = rounds.flatMap((round) => round.result()._meta["io.erabridge/notices"] ?? []);
    expect(remarks).toMatchObject([{ code: "session-reset" }]);
  });

  it("that is lost a second time fails the call", async () => {
    const { call, server } = createRig({
      handle: (request) => request.session.lose(request, { kind: "session-gone", detail: "404" }),
    });
    const round = call();
    await settle();
    await settle();
    expect(round.error()).toMatchObject({ code: -32603, data: { reason: "upstream-lost" } });
    expect(server.requests).toHaveLength(2);
  });

  it("is tried anew when the server answers 401 to it, and not when it answers 403", async () => {
    for (const [status, sessions] of [
      [401, 2],
      [403, 1],
    ] as const) {
      const { call, server } = createRig({
        handle(request) {
          if (request.session.index > 0) done(request);
          else request.session.lose(request, { kind: "unauthorized", detail: "no", status });
        },
      });
      const round = call();
      await settle();
      await settle();
      expect(server.sessions).toHaveLength(sessions);
      expect(round.outcome?.type).toBe(status === 401 ? "complete" : "failed");
    }
  });

  it.each(["broken", "invalid", "rejected"] as const)(
    "is not suspected of an answer that is %s",
    async (kind) => {
      const { call, server } = createRig({
        handle: (request) => request.session.lose(request, { kind, detail: "x" }),
      });
      const round = call();
      await settle();
      expect(round.outcome).toMatchObject({ type: "failed" });
      expect(server.requests).toHaveLength(1);
      expect(server.session.closed).toBe(false);
    },
  );

  it("whose server died is opened anew for the next call", async () => {
    const { call, server } = createRig({
      handle(request) {
        if (request.params.name === "die") request.session.crash();
        else done(request);
      },
    });
    const fine = call();
    await settle();
    const dying = call({ params: { name: "die" } });
    await settle();
    const after = call();
    await settle();
    expect(fine.outcome?.type).toBe("complete");
    expect(dying.error()).toMatchObject({ data: { reason: "upstream-lost", outcome: "unknown" } });
    expect(after.result()._meta["io.erabridge/notices"]).toMatchObject([{ code: "session-reset" }]);
    expect(server.sessions).toHaveLength(2);
  });
});

describe("session policies", () => {
  it("per-call: each call has a session that ends with it", async () => {
    const { call, server } = createRig({ handle: done, upstream: { policy: "per-call" } });
    call();
    call();
    await settle();
    await settle();
    expect(server.sessions).toHaveLength(2);
    expect(server.sessions.every(({ closed }) => closed)).toBe(true);
  });

  it("per-call: a parked call keeps its session until it ends", async () => {
    const { call, clock, server } = createRig({ upstream: { policy: "per-call" } });
    const first = call();
    await settle();
    const request = server.last("tools/call");
    server.session.ask("elicitation/create", { message: "?" });
    await clock.pass(50);
    expect(server.session.closed).toBe(false);
    const retry = call({ state: first.state(), responses: { e1: { action: "decline" } } });
    await settle();
    server.session.reply(request, { content: [] });
    await settle();
    expect(retry.outcome?.type).toBe("complete");
    expect(server.session.closed).toBe(true);
    expect(server.sessions).toHaveLength(1);
  });

  it("pool: busy sessions get company up to the number, then calls share", async () => {
    const { call, server } = createRig({ upstream: { policy: "pool:2" } });
    call();
    await settle();
    call();
    await settle();
    call();
    await settle();
    expect(server.sessions).toHaveLength(2);
    expect(server.requests.map(({ session }) => session.index)).toEqual([0, 1, 0]);
  });

  it("pool: lists go to the first session of their key", async () => {
    const { call, server } = createRig({ upstream: { policy: "pool:2" } });
    call();
    await settle();
    call();
    await settle();
    for (let page = 0; page < 3; page++) call({ method: "tools/list", params: {} });
    await settle();
    const lists = server.requests.filter(({ method }) => method === "tools/list");
    expect(lists.map(({ session }) => session.index)).toEqual([0, 0, 0]);
  });

  it("exclusive: calls that can be asked take turns on one session, others do not wait", async () => {
    const { call, server } = createRig({ upstream: { policy: "exclusive" } });
    const first = call();
    const second = call();
    const list = call({ method: "tools/list", params: {} });
    await settle();
    expect(server.sessions).toHaveLength(1);
    expect(server.requests.map(({ method }) => method)).toEqual(["tools/call", "tools/list"]);
    const [one, two] = server.requests;
    if (one === undefined || two === undefined) throw new Error();
    done(two);
    await settle();
    expect(list.outcome?.type).toBe("complete");
    done(one);
    await settle();
    expect(first.outcome?.type).toBe("complete");
    done(server.last("tools/call"));
    await settle();
    expect(second.outcome?.type).toBe("complete");
  });

  it("exclusive: a call waits for its turn no longer than turnWaitMs", async () => {
    const { call, clock, server } = createRig({
      upstream: { policy: "exclusive" },
      limits: { turnWaitMs: 1_000 },
    });
    call();
    const second = call();
    await clock.pass(1_000);
    expect(second.error()).toMatchObject({ data: { reason: "overloaded", limit: "turnWaitMs" } });
    expect(server.requests).toHaveLength(1);
  });
});

describe("limits of sessions", () => {
  it("evict the session that has been idle for longest, never a busy one, and then refuse", async () => {
    const { call, clock, server } = createRig({
      limits: { maxSessionsPerPrincipal: 2 },
      handle(request) {
        if (request.params.name !== "stay") done(request);
      },
    });
    const as = (affinity: string, name = "t") => call({ caller: { affinity }, params: { name } });
    as("a");
    await clock.pass(10);
    as("b");
    await clock.pass(10);
    as("c");
    await settle();
    await settle();
    expect(server.sessions.map(({ closed }) => closed)).toEqual([true, false, false]);
    as("b", "stay");
    as("c", "stay");
    await settle();
    const refused = as("d");
    await settle();
    expect(refused.error()).toMatchObject({
      data: { reason: "overloaded", limit: "maxSessionsPerPrincipal" },
    });
    expect(server.sessions).toHaveLength(3);
    const other = call({ principal: "bob" });
    await settle();
    expect(other.outcome?.type).toBe("complete");
  });

  it("hold for all principals together", async () => {
    const { call } = createRig({ limits: { maxSessions: 1 } });
    call({ principal: "ann" });
    await settle();
    const refused = call({ principal: "bob" });
    await settle();
    expect(refused.error()).toMatchObject({ data: { limit: "maxSessions" } });
  });
});
