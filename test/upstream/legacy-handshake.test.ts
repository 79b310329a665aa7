import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest, ServerSession } from "./scripted-legacy-server.js";
import { createRig, EVERYTHING } from "./upstream-rig.js";

const done = (request: SeenRequest): void => request.session.reply(request, { content: [] });

function accept(
  request: SeenRequest,
  protocolVersion: unknown,
  capabilities = { tools: {} },
): void {
  request.session.reply(request, { protocolVersion, capabilities });
}

function initializes(session: ServerSession | undefined): readonly Record<string, unknown>[] {
  return (session?.texts ?? [])
    .map((text) => JSON.parse(text))
    .filter(({ method }) => method === "initialize")
    .map(({ params }) => params);
}

describe("the handshake with a legacy server", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
    "takes %s",
    async (revision) => {
      const { call, upstream, caller } = createRig({
        handle: done,
        initialize: (request) => accept(request, revision),
      });
      const round = call();
      await settle();
      expect(round.result()).toMatchObject({ resultType: "complete" });
      const advertisement = await upstream.describe(caller(), new AbortController().signal);
      expect(advertisement.revision).toBe(revision);
    },
  );

  it.each(["2026-07-28", "2023-01-01", "", 7, undefined])(
    "refuses revision %s",
    async (revision) => {
      const { call, server } = createRig({ initialize: (request) => accept(request, revision) });
      const round = call();
      await settle();
      expect(round.error()).toMatchObject({ code: -32603, data: { reason: "not-bridgeable" } });
      expect(server.session.closed).toBe(true);
      expect(server.session.log).toEqual(["initialize"]);
    },
  );

  it.each([
    ["in data.supported", "no", { supported: ["2025-06-18", "2024-11-05"] }],
    ["in data.supportedVersions", "no", { supportedVersions: ["2025-06-18"] }],
    ["in the message", "Unsupported protocol version (supported: 2025-06-18)", undefined],
  ])("tries once more with a revision that an error names %s", async (_, message, data) => {
    const { call, server } = createRig({
      handle: done,
      initialize(request) {
        if (request.params.protocolVersion === "2025-06-18") accept(request, "2025-06-18");
        else request.session.fail(request, -32602, message, data);
      },
    });
    const round = call();
    await settle();
    expect(round.result()).toMatchObject({ resultType: "complete" });
    expect(initializes(server.session).map((params) => params["protocolVersion"])).toEqual([
      "2025-11-25",
      "2025-06-18",
    ]);
  });

  it("gives up after the second error, or one that names no revision", async () => {
    const { call, server } = createRig({
      initialize: (request) =>
        request.session.fail(request, -32602, "no", { supported: ["2025-06-18"] }),
    });
    const round = call();
    await settle();
    expect(round.error()).toMatchObject({ data: { reason: "upstream-unavailable", code: -32602 } });
    expect(initializes(server.session)).toHaveLength(2);
    expect(server.session.closed).toBe(true);
  });

  it("declares what the client declared, without what it cannot keep", async () => {
    const { call, server } = createRig({ handle: done });
    call({
      capabilities:
        '{"roots":{"listChanged":true},"tasks":{},"experimental":{"a":true},"extensions":{"io.modelcontextprotocol/ui":{},"io.modelcontextprotocol/tasks":{}}}',
    });
    await settle();
    expect(initializes(server.session)[0]).toMatchObject({
      capabilities: {
        roots: {},
        experimental: { a: true },
        extensions: { "io.modelcontextprotocol/ui": {} },
      },
    });
  });

  it.each([undefined, '{"name":"no version"}'])(
    "speaks for itself for a client called %s",
    async (identity) => {
      const { call, server } = createRig({ handle: done });
      call({ caller: { identity } });
      await settle();
      expect(initializes(server.session)[0]).toMatchObject({
        clientInfo: { name: "erabridge", version: "0" },
      });
    },
  );

  it("starts over without elicitation when the client takes URLs only and the server knows no modes", async () => {
    const { call, server } = createRig({
      handle: done,
      initialize: (request) => accept(request, "2025-06-18"),
    });
    const round = call({ capabilities: '{"elicitation":{"url":{}},"sampling":{}}' });
    await settle();
    expect(round.result()).toMatchObject({ resultType: "complete" });
    expect(server.sessions).toHaveLength(2);
    expect(server.sessions[0]?.closed).toBe(true);
    expect(initializes(server.sessions[1])[0]).toMatchObject({ capabilities: { sampling: {} } });
    expect(initializes(server.sessions[1])[0]?.["capabilities"]).not.toHaveProperty("elicitation");
  });

  it("ends at the start timeout, which is never a cancellation", async () => {
    const { call, clock, server } = createRig({ initialize: () => {} });
    const round = call();
    await clock.pass(60_000);
    expect(round.error()).toMatchObject({ data: { reason: "upstream-timeout" } });
    expect(server.session.closed).toBe(true);
    expect(server.session.log).not.toContain("notifications/cancelled");
  });

  it("passes a failure to open on to everyone who waits", async () => {
    const { call } = createRig({
      beforeOpen: () => Promise.reject(new Error("boom")),
    });
    const rounds = [call(), call()];
    await settle();
    for (const round of rounds) expect(round.outcome).toMatchObject({ type: "failed" });
  });

  it("advertises changes only where they can arrive, and no tasks", async () => {
    const capabilities = {
      tools: { listChanged: true },
      resources: { subscribe: true },
      tasks: {},
    };
    const deaf = createRig({ listens: false, capabilities });
    const hearing = createRig({ capabilities });
    const never = new AbortController().signal;
    const one = await deaf.upstream.describe(deaf.caller(), never);
    const two = await hearing.upstream.describe(hearing.caller(), never);
    expect(JSON.parse(one.capabilities)).toEqual({ tools: {}, resources: {} });
    expect(JSON.parse(two.capabilities)).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true },
    });
    expect(JSON.parse(two.result)).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      ttlMs: 0,
      cacheScope: "private",
    });
  });

  it("loses nothing that the server says before the handshake is over", async () => {
    const rig = createRig({
      handle: done,
      initialize(request) {
        accept(request, "2025-11-25");
        request.session.ask("roots/list");
      },
    });
    const round = rig.call({ capabilities: EVERYTHING });
    await rig.clock.pass(100);
    expect(round.keys()).toEqual(["r1"]);
  });
});
