import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { createRig } from "./upstream-rig.js";

const echo = (request: SeenRequest): void =>
  request.session.reply(request, { content: [], got: request.params });

describe("a call to a legacy server", () => {
  it("opens a session, goes out without the envelope, and comes back stamped", async () => {
    const { call, server } = createRig({ handle: echo });
    const round = call({
      paramsText:
        '{"name":"t","arguments":{"n":9007199254740993,"f":1.0},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","com.acme/x":1}}',
    });
    await settle();
    expect(server.session.texts).toEqual([
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"client","version":"1"}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":9007199254740993,"f":1.0},"_meta":{"com.acme/x":1}}}',
    ]);
    expect(round.result()).toMatchObject({
      resultType: "complete",
      content: [],
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } },
    });
  });

  it("passes errors of the server on", async () => {
    const { call } = createRig({
      handle: (request) => request.session.fail(request, -32602, "unknown tool", { a: 1 }),
    });
    const round = call();
    await settle();
    expect(round.outcome).toMatchObject({ type: "failed", cause: "peer" });
    expect(round.error()).toEqual({ code: -32602, message: "unknown tool", data: { a: 1 } });
  });

  it("tells methods nobody knows from things a known method does not find", async () => {
    const { call } = createRig({
      handle: (request) => request.session.fail(request, -32601, "not found"),
    });
    const known = call({ method: "tools/call" });
    const unknown = call({ method: "acme/do" });
    const absent = call({ method: "completion/complete" });
    await settle();
    expect(known.outcome).toMatchObject({ type: "failed", cause: "peer" });
    expect(unknown.outcome).toMatchObject({ type: "failed", cause: "unknown-method" });
    expect(absent.outcome).toMatchObject({ type: "failed", cause: "unknown-method" });
  });

  it("delivers progress to its own call only, without the token", async () => {
    const { call, server } = createRig();
    const first = call({ wantsProgress: true });
    const second = call({ wantsProgress: true });
    const silent = call();
    await settle();
    const [one, two, three] = server.requests;
    if (one === undefined || two === undefined || three === undefined) throw new Error();
    expect(three.params._meta).toBeUndefined();
    server.session.progress(two, 0.5);
    server.session.tell("notifications/progress", { progressToken: 99, progress: 1 });
    server.session.reply(two, {});
    server.session.progress(two, 0.9);
    await settle();
    expect(first.notices).toEqual([]);
    expect(second.notices).toEqual([
      { method: "notifications/progress", params: '{"progress":0.5}' },
    ]);
    expect(silent.notices).toEqual([]);
  });

  it("is cancelled upstream when the client goes away, and stays silent afterwards", async () => {
    const { call, server, upstream } = createRig();
    const round = call({ wantsProgress: true });
    await settle();
    const request = server.last("tools/call");
    round.leave();
    await settle();
    expect(server.session.cancelled).toEqual([request.id]);
    server.session.progress(request, 1);
    server.session.reply(request, {});
    await settle();
    expect(round.notices).toEqual([]);
    expect(round.outcome).toMatchObject({ type: "failed", cause: "cancelled" });
    expect(upstream.stats().calls).toBe(0);
  });

  it("ends after the request timeout, which progress moves, up to the ceiling", async () => {
    const { call, server, clock } = createRig({
      limits: { requestTimeoutMs: 1_000, requestCeilingMs: 3_500 },
    });
    const silent = call();
    const lively = call({ wantsProgress: true });
    await settle();
    const [, request] = server.requests;
    if (request === undefined) throw new Error();
    for (let step = 1; step <= 4; step++) {
      await clock.pass(800);
      server.session.progress(request, step);
    }
    await settle();
    expect(silent.error()).toMatchObject({ code: -32603, data: { reason: "upstream-timeout" } });
    expect(lively.outcome).toBeUndefined();
    await clock.pass(400);
    expect(lively.error()).toMatchObject({ data: { reason: "upstream-timeout" } });
    expect(server.session.cancelled).toEqual([2, 3]);
  });

  it("answers pings of the server at once, and refuses what it does not know", async () => {
    const { call, server } = createRig();
    call();
    await settle();
    const ping = server.session.ask("ping");
    const other = server.session.ask("acme/question");
    expect(server.session.answerTo(ping)).toEqual({});
    expect(server.session.answerTo(other)).toMatchObject({ error: { code: -32601 } });
  });

  it("fails a call whose answer is lost, says that it may have happened, and sends it once only", async () => {
    const { call, server } = createRig();
    const round = call();
    await settle();
    server.session.crash();
    await settle();
    expect(round.error()).toMatchObject({
      code: -32603,
      message: expect.stringContaining("may have completed"),
    });
    expect(server.requests).toHaveLength(1);
  });

  it("takes nothing but an object for a result", async () => {
    const { call } = createRig({
      handle: (request) => request.session.replyText(request, "[1]"),
    });
    const round = call();
    await settle();
    expect(round.error()).toMatchObject({ code: -32603, data: { reason: "upstream-invalid" } });
  });

  it("keeps to the order of everything the server said before the result", async () => {
    const { call, server } = createRig();
    const round = call({ wantsProgress: true });
    await settle();
    const request = server.last("tools/call");
    for (const progress of [1, 2, 3]) server.session.progress(request, progress);
    server.session.reply(request, { content: [] });
    await settle();
    expect(round.notices.map(({ params }) => params)).toEqual([
      '{"progress":1}',
      '{"progress":2}',
      '{"progress":3}',
    ]);
    expect(round.outcome?.type).toBe("complete");
  });
});

describe("the end of the upstream", () => {
  it("ends calls that run, calls that wait for a session, and sessions that are being opened", async () => {
    const { call, caller, server, upstream } = createRig({
      initialize(request) {
        if (request.session.index === 0) {
          request.session.reply(request, { protocolVersion: "2025-11-25", capabilities: {} });
        }
      },
    });
    const running = call();
    await settle();
    const waiting = call({ principal: "bob" });
    const describing = upstream.describe(
      caller({ principal: "bob" }),
      new AbortController().signal,
    );
    describing.catch(() => {});
    await settle();
    expect(upstream.stats()).toMatchObject({ sessions: 1, opening: 1, calls: 2, waiting: 2 });
    await upstream.close();
    await settle();
    expect(running.error()).toMatchObject({ data: { reason: "closed" } });
    expect(waiting.error()).toMatchObject({ data: { reason: "closed" } });
    await expect(describing).rejects.toMatchObject({ code: "closed" });
    expect(server.sessions.map(({ closed }) => closed)).toEqual([true, true]);
  });

  it("refuses whatever comes later, and may be asked for twice", async () => {
    const { call, caller, upstream, server } = createRig();
    await upstream.close();
    await upstream.close();
    const round = call();
    await settle();
    expect(round.error()).toMatchObject({ data: { reason: "closed" } });
    await expect(upstream.describe(caller(), new AbortController().signal)).rejects.toMatchObject({
      code: "closed",
    });
    expect(server.sessions).toHaveLength(0);
  });
});
