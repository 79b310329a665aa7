import { describe, expect, it } from "vitest";
import {
  BridgeError,
  DEFAULT_LIMITS,
  type HttpTarget,
  type Outcome,
  type Target,
  toPrincipal,
} from "../../src/index.js";
import type { ModernStart } from "../../src/upstream/era-keeper.js";
import { createUpstream, type UpstreamOptions } from "../../src/upstream/open-upstream.js";
import { PROBE_ID } from "../../src/upstream/probe.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import {
  CALLER,
  callOf,
  createLegacyService,
  createModernService,
  type EraService,
} from "./era-fixtures.js";
import { createFakeChannel, createFakeServer, type FakeChannel } from "./fakes.js";

const NEVER = new AbortController().signal;
const MINUTE = 60_000;

/** How a server behind a channel behaves; returns its answers to one message. */
type Behaviour = (message: Heard, channel: FakeChannel) => void;

interface Heard {
  readonly id?: number | undefined;
  readonly method?: string | undefined;
}

function replies(id: number | undefined, member: string): string {
  return `{"jsonrpc":"2.0","id":${id},${member}}`;
}

const legacy: Behaviour = ({ id, method }, channel) => {
  if (method === "server/discover") {
    channel.says(replies(id, '"error":{"code":-32601,"message":"no"}'));
  } else channel.says(replies(id, `"result":{"of":"legacy ${method}"}`));
};

const modern: Behaviour = ({ id, method }, channel) => {
  if (method === "initialize") {
    channel.says(
      replies(
        id,
        '"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"x"}}',
      ),
    );
  } else if (method === "server/discover") {
    channel.says(replies(id, '"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}'));
  } else channel.says(replies(id, `"result":{"of":"modern ${method}"}`));
};

const swallowing: Behaviour = (message, channel) => {
  if (message.method !== "server/discover") legacy(message, channel);
};

/** Ends at once when the first message is not `initialize`, as some servers do. */
const touchy: Behaviour = (message, channel) => {
  if (message.method === "server/discover") channel.ends("exit code 1");
  else legacy(message, channel);
};

const crashing: Behaviour = (_, channel) => channel.ends("exit code 3");

interface Rig {
  readonly channels: readonly FakeChannel[];
  behave(behaviour: Behaviour): void;
}

function channelTarget(
  first: Behaviour,
  delayMs = 0,
  clock = createManualClock(),
): Rig & { target: Target } {
  const channels: FakeChannel[] = [];
  let behaviour = first;
  return {
    channels,
    behave(next) {
      behaviour = next;
    },
    target: {
      type: "channel",
      name: "server",
      spawns: true,
      async open() {
        const mine = behaviour;
        const readyAt = clock.now() + delayMs;
        const channel = createFakeChannel((text) => {
          const message = JSON.parse(text) as Heard;
          if (delayMs === 0) queueMicrotask(() => mine(message, channel));
          else clock.after(readyAt - clock.now(), () => mine(message, channel));
        });
        channels.push(channel);
        return channel;
      },
    },
  };
}

function httpTarget() {
  const server = createFakeServer();
  const target: HttpTarget = {
    type: "http",
    name: "server",
    url: "http://server.test/mcp",
    exchange: server.exchange,
    headers: (caller) => ({ "x-principal": String(caller?.principal) }),
  };
  return { server, target };
}

function setUp(
  target: Target,
  options: Partial<UpstreamOptions<EraService>> = {},
  clock = createManualClock(),
) {
  const verdicts: string[] = [];
  const services: { era: string; service: EraService; start?: ModernStart }[] = [];
  const upstream = createUpstream({
    target,
    identity: '{"name":"bridge","version":"1"}',
    probe: "in-place",
    legacy(openLink) {
      const service = createLegacyService(openLink);
      services.push({ era: "legacy", service });
      return service;
    },
    modern(start) {
      const service = createModernService(start.openLink);
      services.push({ era: "modern", service, start });
      return service;
    },
    clock,
    limits: DEFAULT_LIMITS,
    journal: {
      debug() {},
      info(event, facts) {
        if (event === "era-verdict") verdicts.push(`${facts?.["era"]}: ${facts?.["reason"]}`);
      },
      warn() {},
      error() {},
    },
    ...options,
  });
  const call = async (method = "tools/list"): Promise<string> =>
    told(await upstream.relay(callOf(method), () => undefined, NEVER));
  return { upstream, clock, call, verdicts, services };
}

function told(outcome: Outcome): string {
  switch (outcome.type) {
    case "complete":
      return (JSON.parse(outcome.result) as { of: string }).of;
    case "failed":
      return `${outcome.cause} ${outcome.error.code} ${(JSON.parse(outcome.error.text) as { message: string }).message}`;
    case "input-required":
      return outcome.type;
  }
}

function methodsOf(channel: FakeChannel | undefined): readonly string[] {
  return (channel?.sent ?? []).map((text) => (JSON.parse(text) as { method: string }).method);
}

describe("an upstream behind a channel", () => {
  it("serves a legacy server on the process that was probed", async () => {
    const { target, channels } = channelTarget(legacy);
    const { call, verdicts, upstream, clock } = setUp(target);
    expect(await call()).toBe("legacy tools/list");
    expect(await call("prompts/list")).toBe("legacy prompts/list");
    expect(channels).toHaveLength(1);
    expect(methodsOf(channels[0])).toEqual([
      "server/discover",
      "initialize",
      "tools/list",
      "prompts/list",
    ]);
    expect(verdicts).toEqual(["legacy: answered the probe with error -32601"]);
    expect(upstream.verdict()).toMatchObject({ era: "legacy", at: clock.now() });
    await upstream.close();
    expect(channels[0]?.closes).toBeGreaterThan(0);
    expect(clock.pending).toBe(0);
  });

  it("serves a modern server on the process that was probed, and never sends initialize", async () => {
    const { target, channels } = channelTarget(modern);
    const { call, verdicts, services } = setUp(target);
    expect(await call()).toBe("modern tools/list");
    expect(channels).toHaveLength(1);
    expect(methodsOf(channels[0])).toEqual(["server/discover", "tools/list"]);
    expect(verdicts).toEqual(["modern: answered server/discover"]);
    expect(services[0]?.start).toMatchObject({
      revision: "2026-07-28",
      discovered: '{"supportedVersions":["2026-07-28"],"capabilities":{}}',
    });
  });

  it("sends initialize behind the probe after two seconds of silence", async () => {
    const { target, channels } = channelTarget(swallowing);
    const { call, verdicts, clock } = setUp(target);
    const answer = call();
    await clock.pass(1_999);
    expect(methodsOf(channels[0])).toEqual(["server/discover"]);
    await clock.pass(1);
    expect(await answer).toBe("legacy tools/list");
    expect(channels).toHaveLength(1);
    expect(verdicts).toEqual(["legacy: answered initialize"]);
    expect(await call()).toBe("legacy tools/list");
  });

  it("serves a slow legacy server on one process", async () => {
    const clock = createManualClock();
    const { target, channels } = channelTarget(legacy, 5_000, clock);
    const { call, verdicts } = setUp(target, {}, clock);
    const answer = call();
    await clock.pass(30_000);
    expect(await answer).toBe("legacy tools/list");
    expect(channels).toHaveLength(1);
    expect(verdicts).toEqual(["legacy: answered the probe with error -32601"]);
  });

  it("serves a slow modern server on one process", async () => {
    const clock = createManualClock();
    const { target, channels } = channelTarget(modern, 3_000, clock);
    const { call, verdicts, services } = setUp(target, {}, clock);
    const answer = call();
    await clock.pass(30_000);
    expect(await answer).toBe("modern tools/list");
    expect(channels).toHaveLength(1);
    expect(methodsOf(channels[0])).toEqual(["server/discover", "initialize", "tools/list"]);
    expect(verdicts).toEqual(["modern: answered server/discover"]);
    expect(services.map(({ era, service }) => `${era} ${service.closes}`)).toEqual([
      "legacy 1",
      "modern 0",
    ]);
  });

  it("starts a server that ends on the probe once more, and remembers", async () => {
    const { target, channels } = channelTarget(touchy);
    const { call, verdicts, clock } = setUp(target);
    expect(await call()).toBe("legacy tools/list");
    expect(channels.map(methodsOf)).toEqual([["server/discover"], ["initialize", "tools/list"]]);
    expect(verdicts).toEqual(["legacy: ends on the probe (exit code 1)"]);
    channels[1]?.ends("killed");
    const again = call();
    await clock.pass(1_000);
    expect(await again).toBe("legacy tools/list");
    expect(channels.slice(2).map(methodsOf)).toEqual([["initialize", "tools/list"]]);
  });

  it("starts a slow server that ends on the probe once more, behind the session's back", async () => {
    const clock = createManualClock();
    const { target, channels } = channelTarget(touchy, 4_000, clock);
    const { call, verdicts } = setUp(target, {}, clock);
    const answer = call();
    await clock.pass(30_000);
    expect(await answer).toBe("legacy tools/list");
    expect(channels.map(methodsOf)).toEqual([
      ["server/discover", "initialize"],
      ["initialize", "tools/list"],
    ]);
    expect(verdicts).toEqual(["legacy: answered initialize"]);
  });

  it("tells at once that a server crashes, and does not start it in a loop", async () => {
    const { target, channels } = channelTarget(crashing);
    const { call, verdicts, clock, upstream } = setUp(target);
    expect(await call()).toBe("unavailable -32603 exit code 3");
    expect(channels).toHaveLength(2);
    const again = call();
    await clock.pass(1_000);
    expect(await again).toBe("unavailable -32603 exit code 3");
    for (let i = 0; i < 10; i++) expect(await call()).toContain("exit code 3");
    expect(channels.length).toBeLessThanOrEqual(4);
    expect(verdicts).toEqual([]);
    expect(upstream.verdict()).toBeUndefined();
  });

  it("finds the era anew when a server that crashed is well again", async () => {
    const { target, behave } = channelTarget(crashing);
    const { call, clock } = setUp(target);
    await call();
    behave(modern);
    clock.advance(MINUTE);
    expect(await call()).toBe("modern tools/list");
  });

  it("asks once for any number of first callers", async () => {
    const { target, channels } = channelTarget(legacy);
    const { call, services } = setUp(target);
    expect(await Promise.all([call(), call(), call()])).toEqual([
      "legacy tools/list",
      "legacy tools/list",
      "legacy tools/list",
    ]);
    expect(services).toHaveLength(1);
    expect(channels[0]?.sent.filter((text) => text.includes(String(PROBE_ID)))).toHaveLength(1);
  });

  it("lets a caller go who does not want to wait", async () => {
    const { target } = channelTarget(swallowing);
    const { upstream } = setUp(target);
    const controller = new AbortController();
    const outcome = upstream.relay(callOf("tools/list"), () => undefined, controller.signal);
    await settle();
    controller.abort();
    expect(told(await outcome)).toContain("cancelled");
  });

  it("reports a server that cannot be started", async () => {
    const { call } = setUp({
      type: "channel",
      name: "server",
      spawns: true,
      open: () => Promise.reject(new BridgeError("upstream-unavailable", "no such command")),
    });
    expect(await call()).toBe("unavailable -32603 no such command");
  });

  it("refuses a server that is newer than the bridge", async () => {
    const { target } = channelTarget(({ id }, channel) =>
      channel.says(replies(id, '"result":{"supportedVersions":["2027-05-01"],"capabilities":{}}')),
    );
    const { call, services } = setUp(target);
    expect(await call()).toBe(
      "unavailable -32603 server speaks 2027-05-01, which this bridge does not",
    );
    expect(services).toHaveLength(0);
  });
});

describe("an upstream that is warmed up", () => {
  it("starts and probes the server before the first caller", async () => {
    const { target, channels } = channelTarget(legacy);
    const { call, upstream } = setUp(target);
    await upstream.warm();
    expect(methodsOf(channels[0])).toEqual(["server/discover"]);
    expect(upstream.verdict()).toMatchObject({ era: "legacy" });
    expect(await call()).toBe("legacy tools/list");
    expect(channels).toHaveLength(1);
  });

  it("leaves the initialize of a silent server to the first caller", async () => {
    const { target, channels } = channelTarget(swallowing);
    const { call, upstream, clock } = setUp(target);
    const warm = upstream.warm();
    await clock.pass(10_000);
    await warm;
    expect(methodsOf(channels[0])).toEqual(["server/discover"]);
    expect(upstream.verdict()).toBeUndefined();
    const answer = call();
    await clock.pass(0);
    expect(await answer).toBe("legacy tools/list");
    expect(channels).toHaveLength(1);
  });

  it("starts a server that ends on the probe no more than once more", async () => {
    const { target, channels } = channelTarget(touchy);
    const { call, upstream } = setUp(target);
    await upstream.warm();
    expect(await call()).toBe("legacy tools/list");
    expect(channels).toHaveLength(2);
  });

  it("ends a server that nobody used", async () => {
    const { target, channels } = channelTarget(legacy);
    const { upstream, clock } = setUp(target);
    await upstream.warm();
    await upstream.close();
    expect(channels[0]?.closes).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("says what is wrong", async () => {
    const { upstream } = setUp({
      type: "channel",
      name: "server",
      spawns: true,
      open: () => Promise.reject(new BridgeError("upstream-unavailable", "no such command")),
    });
    await expect(upstream.warm()).rejects.toThrow("no such command");
  });
});

describe("an upstream whose era is given", () => {
  it.each([
    ["legacy", "legacy", undefined],
    ["2025-06-18", "legacy", "2025-06-18"],
    ["modern", "modern", undefined],
    ["2026-07-28", "modern", "2026-07-28"],
  ])("is not asked: %s", async (upstreamEra, era, revision) => {
    const { target, channels } = channelTarget(era === "legacy" ? touchy : modern);
    const { call, upstream } = setUp(target, { upstreamEra, probe: "none" });
    expect(await call()).toBe(`${era} tools/list`);
    expect(methodsOf(channels[0])).not.toContain("server/discover");
    expect(upstream.verdict()).toMatchObject({ era, revision, reason: "pinned" });
  });

  it("is started early all the same", async () => {
    const { target, channels } = channelTarget(touchy);
    const { call, upstream } = setUp(target, { upstreamEra: "legacy" });
    await upstream.warm();
    expect(channels).toHaveLength(1);
    expect(await call()).toBe("legacy tools/list");
    expect(channels).toHaveLength(1);
  });

  it("must be known where nothing is probed", () => {
    const { target } = channelTarget(legacy);
    expect(() => setUp(target, { probe: "none" })).toThrow(BridgeError);
    expect(() => setUp(target, { upstreamEra: "2024-01-01" })).toThrow("no known revision");
  });
});

describe("an upstream that is probed on a sibling", () => {
  it.each([
    ["legacy", legacy, "legacy tools/list"],
    ["modern", modern, "modern tools/list"],
    ["touchy", touchy, "legacy tools/list"],
  ] as const)(
    "ends the sibling of a %s server and starts another",
    async (_, behaviour, answer) => {
      const { target, channels } = channelTarget(behaviour);
      const { call, clock } = setUp(target, { probe: "sibling" });
      expect(await call()).toBe(answer);
      expect(channels).toHaveLength(2);
      expect(methodsOf(channels[0])).toEqual(["server/discover"]);
      expect(methodsOf(channels[1])).not.toContain("server/discover");
      expect(clock.pending).toBe(0);
    },
  );

  it("sends the sibling initialize after some silence", async () => {
    const { target, channels } = channelTarget(swallowing);
    const { call, clock } = setUp(target, { probe: "sibling" });
    const answer = call();
    await clock.pass(2_000);
    expect(await answer).toBe("legacy tools/list");
    expect(methodsOf(channels[0])).toEqual(["server/discover", "initialize"]);
  });
});

describe("a verdict on a server behind a channel", () => {
  it("is looked at again with the first process after the horizon", async () => {
    const { target, channels, behave } = channelTarget(legacy);
    const { call, verdicts, clock } = setUp(target);
    await call();
    behave(modern);
    clock.advance(24 * 60 * MINUTE);
    expect(await call()).toBe("legacy tools/list");
    channels[0]?.ends("upgraded");
    await clock.pass(1_000);
    expect(await call()).toBe("modern tools/list");
    expect(channels).toHaveLength(2);
    expect(verdicts).toEqual([
      "legacy: answered the probe with error -32601",
      "modern: answered server/discover",
    ]);
  });

  it("is looked at again when a later process refuses the handshake", async () => {
    const { target, channels, behave } = channelTarget(legacy);
    const { call, clock } = setUp(target);
    await call();
    behave(modern);
    channels[0]?.ends("upgraded");
    clock.advance(MINUTE);
    expect(await call()).toBe("modern tools/list");
  });

  it("is looked at again when a later process knows no method", async () => {
    const { target, channels, behave } = channelTarget(modern);
    const { call, clock } = setUp(target);
    await call();
    behave(({ id, method }, channel) => {
      if (method === "initialize" || method === "initialized") legacy({ id, method }, channel);
      else if (channel.sent.some((text) => text.includes('"initialize"'))) {
        legacy({ id, method }, channel);
      } else channel.says(replies(id, '"error":{"code":-32601,"message":"no"}'));
    });
    channels[0]?.ends("downgraded");
    clock.advance(MINUTE);
    expect(await call()).toBe("legacy tools/list");
  });

  it("stands when the process that proved it does not know one method", async () => {
    const { target, channels } = channelTarget(({ id, method }, channel) => {
      if (method === "acme/custom") {
        channel.says(replies(id, '"error":{"code":-32601,"message":"no"}'));
      } else modern({ id, method }, channel);
    });
    const { call, clock } = setUp(target);
    await call();
    clock.advance(MINUTE);
    expect(await call("acme/custom")).toBe("peer -32601 no");
    expect(await call()).toBe("modern tools/list");
    expect(channels).toHaveLength(1);
  });
});

describe("an upstream behind a URL", () => {
  const DISCOVERED = `{"jsonrpc":"2.0","id":${PROBE_ID},"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}`;
  const initialized = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}';
  const listed = '{"jsonrpc":"2.0","id":2,"result":{"of":"legacy tools/list"}}';

  async function connectLegacy() {
    const { server, target } = httpTarget();
    const all = setUp(target);
    const answer = all.call();
    await settle();
    server.call(0).answers(400, "", {});
    await settle();
    server.call(1).answers(200, initialized, {
      "content-type": "application/json",
      "mcp-session-id": "s-1",
    });
    await settle();
    server.call(2).answers(200, listed);
    expect(await answer).toBe("legacy tools/list");
    return { ...all, server };
  }

  it("is probed with the headers of the modern era, then opened by initialize", async () => {
    const { server, verdicts } = await connectLegacy();
    expect(server.call(0).headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
      accept: "application/json, text/event-stream",
      "x-principal": "local",
    });
    expect(JSON.parse(server.call(1).body ?? "")).toMatchObject({ method: "initialize" });
    expect(verdicts).toEqual(["legacy: refused the probe with HTTP status 400"]);
  });

  it("is modern by its discover result, in JSON or as an event", async () => {
    for (const type of ["application/json", "text/event-stream"]) {
      const { server, target } = httpTarget();
      const { call, services, verdicts } = setUp(target);
      void call();
      await settle();
      const body = type === "application/json" ? DISCOVERED : `data: ${DISCOVERED}\n\n`;
      server.call(0).answers(200, body, { "content-type": type });
      await settle();
      expect(verdicts).toEqual(["modern: answered server/discover"]);
      expect(services.map(({ era }) => era)).toEqual(["modern"]);
      expect(server.calls).toHaveLength(2);
      expect(server.call(1).body).toContain("tools/list");
    }
  });

  it("gets no verdict from refused credentials: another caller asks anew", async () => {
    const { server, target } = httpTarget();
    const { upstream, call, services } = setUp(target);
    const first = call();
    await settle();
    const other = { ...CALLER, principal: toPrincipal("other") };
    void upstream.relay(callOf("tools/list", other), () => undefined, NEVER);
    await settle();
    expect(server.calls).toHaveLength(1);
    server.call(0).answers(401);
    expect(await first).toBe("unavailable -32603 server refuses the credentials");
    await settle();
    expect(server.call(1).headers["x-principal"]).toBe("other");
    server.call(1).answers(200, DISCOVERED);
    await settle();
    expect(services.map(({ era }) => era)).toEqual(["modern"]);
  });

  it("gets no verdict from an outage", async () => {
    const { server, target } = httpTarget();
    const { call, upstream, clock } = setUp(target);
    const refused = call();
    await settle();
    server.call(0).fails("refused", "connection refused");
    expect(await refused).toBe("unavailable -32603 server cannot be reached: connection refused");
    const gateway = call();
    await settle();
    server.call(1).answers(502);
    expect(await gateway).toContain("unavailable");
    const silent = call();
    await clock.pass(60_000);
    expect(await silent).toContain("did not answer in time");
    expect(server.call(2).aborted).toBe(true);
    expect(upstream.verdict()).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("gets no lasting verdict from a 500 when initialize fails as well", async () => {
    const { server, target } = httpTarget();
    const { call, upstream, verdicts, services } = setUp(target);
    const answer = call();
    await settle();
    server.call(0).answers(500);
    await settle();
    server.call(1).answers(500);
    expect(await answer).toContain("unavailable");
    expect(upstream.verdict()).toBeUndefined();
    expect(verdicts).toEqual([]);
    expect(services[0]?.service.closes).toBe(1);
  });

  it("changes over when the server refuses new sessions for their revision", async () => {
    const { server, call, clock, verdicts, services } = await connectLegacy();
    clock.advance(MINUTE);
    const answer = call();
    await settle();
    server
      .call(-1)
      .answers(
        400,
        '{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}',
      );
    await settle();
    expect(JSON.parse(server.call(-1).body ?? "")).toMatchObject({ method: "server/discover" });
    server.call(-1).answers(200, DISCOVERED);
    await settle();
    server.call(-1).answers(200, '{"jsonrpc":"2.0","id":1,"result":{"of":"modern tools/list"}}');
    expect(await answer).toBe("modern tools/list");
    expect(verdicts.at(-1)).toBe("modern: answered server/discover");
    expect(services.map(({ era, service }) => `${era} ${service.closes}`)).toEqual([
      "legacy 1",
      "modern 0",
    ]);
  });

  it("is looked at again behind its callers' backs after the horizon", async () => {
    const { server, call, clock, upstream } = await connectLegacy();
    clock.advance(24 * 60 * MINUTE);
    const answer = call();
    await settle();
    const [probe, request] = server.calls.slice(-2);
    expect(probe?.body).toContain("server/discover");
    request?.answers(200, '{"jsonrpc":"2.0","id":3,"result":{"of":"legacy tools/list"}}');
    expect(await answer).toBe("legacy tools/list");
    probe?.answers(400, "", {});
    await settle();
    expect(upstream.verdict()).toMatchObject({ era: "legacy", at: clock.now() });
  });

  it("is not looked at for every failure", async () => {
    const { server, call, clock } = await connectLegacy();
    clock.advance(MINUTE);
    for (let i = 0; i < 5; i++) {
      const answer = call();
      await settle();
      server.call(-1).fails("broken", "reset");
      await settle();
      const last = server.call(-1);
      if (last.body?.includes("server/discover")) last.answers(503);
      expect(await answer).toContain("reset");
    }
    const probes = server.calls.filter(({ body }) => body?.includes("server/discover"));
    expect(probes).toHaveLength(2);
  });
});
