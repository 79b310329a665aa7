import { describe, expect, test } from "vitest";
import type { Caller } from "../../src/model/caller.js";
import type { Interest, Notice } from "../../src/model/notice.js";
import type { Acknowledgement } from "../../src/model/service.js";
import { settle } from "../support/manual-clock.js";
import { SSE_TYPE } from "./fakes.js";
import { callerOf, idOf, paramsOf, startHttpRig, startPipeRig } from "./modern-rig.js";

function interestIn(filter: {
  readonly tools?: boolean;
  readonly uris?: readonly string[];
  readonly extra?: object;
}): Interest {
  const { tools = false, uris = [], extra = {} } = filter;
  return {
    toolsListChanged: tools,
    promptsListChanged: false,
    resourcesListChanged: false,
    resourceSubscriptions: uris,
    text: JSON.stringify({
      ...(tools ? { toolsListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
      ...extra,
    }),
  };
}

interface Watched {
  readonly notices: Notice[];
  acknowledgement: Acknowledgement | undefined;
  error: unknown;
  ended: boolean;
  leave(): void;
}

type Upstream = ReturnType<typeof startHttpRig>["upstream"];

async function watch(
  upstream: Upstream,
  interest: Interest,
  caller: Caller = callerOf(),
): Promise<Watched> {
  const controller = new AbortController();
  const watched: Watched = {
    notices: [],
    acknowledgement: undefined,
    error: undefined,
    ended: false,
    leave: () => controller.abort(),
  };
  const note = (notice: Notice): void => void watched.notices.push(notice);
  upstream.watch(interest, caller, note, controller.signal).then(
    (acknowledgement) => {
      watched.acknowledgement = acknowledgement;
      void acknowledgement.ended.then(() => {
        watched.ended = true;
      });
    },
    (error: unknown) => {
      watched.error = error;
    },
  );
  await settle();
  return watched;
}

const acknowledgedWith = (id: number, notifications: object): string =>
  `data: ${JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications },
  })}\n\n`;

const updated = (uri: string): string =>
  `data: ${JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri, _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  })}\n\n`;

const TOOLS_CHANGED = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n';

/** The nth subscription at the server, acknowledged as asked. */
async function acknowledge(rig: ReturnType<typeof startHttpRig>, index: number, less?: object) {
  const call = rig.server.call(index);
  const { notifications } = paramsOf(call) as { notifications: object };
  call.streams(acknowledgedWith(idOf(call), less ?? notifications));
  await settle();
}

describe("a watch", () => {
  test("is a subscription with its headers, and is told what the server agrees to", async () => {
    const rig = startHttpRig();
    const watched = await watch(
      rig.upstream,
      interestIn({ tools: true, uris: ["x://a", "x://b"] }),
    );
    expect(rig.server.call(0).headers).toMatchObject({ "mcp-method": "subscriptions/listen" });
    expect(paramsOf(rig.server.call(0))).toEqual({
      notifications: { toolsListChanged: true, resourceSubscriptions: ["x://a", "x://b"] },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "client", version: "2" },
        "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      },
    });
    expect(watched.acknowledgement).toBeUndefined();
    await acknowledge(rig, 0, { toolsListChanged: true, resourceSubscriptions: ["x://a"] });
    expect(watched.acknowledgement?.honoured).toBe(
      '{"toolsListChanged":true,"resourceSubscriptions":["x://a"]}',
    );
    rig.server.call(0).data(updated("x://a"));
    expect(watched.notices).toEqual([
      { method: "notifications/resources/updated", params: '{"uri":"x://a"}' },
    ]);
  });

  test("that ends closes the subscription", async () => {
    const rig = startHttpRig();
    const watched = await watch(rig.upstream, interestIn({ tools: true }));
    await acknowledge(rig, 0);
    watched.leave();
    expect(rig.server.call(0).aborted).toBe(true);
    expect(rig.upstream.stats()).toEqual({ requests: 0, watchers: 0 });
    expect(rig.clock.pending).toBe(0);
  });

  test("that the server refuses fails with the server's error", async () => {
    const rig = startHttpRig();
    const watched = await watch(rig.upstream, interestIn({ tools: true }));
    await rig.fail(0, 404, '{"code":-32601,"message":"m"}');
    expect(watched.error).toMatchObject({ error: { code: -32601 } });
    expect(rig.upstream.stats().watchers).toBe(0);
    expect(rig.clock.pending).toBe(0);
  });

  test("that the server does not acknowledge fails in time", async () => {
    const rig = startHttpRig();
    const watched = await watch(rig.upstream, interestIn({ tools: true }));
    rig.server.call(0).head(200, SSE_TYPE);
    await rig.clock.pass(5_000);
    expect(watched.error).toMatchObject({ code: "upstream-timeout" });
    expect(rig.server.call(0).aborted).toBe(true);
  });
});

describe("watches of one principal", () => {
  test("share a subscription, and each hears its own part", async () => {
    const rig = startHttpRig();
    const a = await watch(rig.upstream, interestIn({ tools: true, uris: ["x://a"] }));
    await acknowledge(rig, 0);
    const b = await watch(rig.upstream, interestIn({ uris: ["x://a"] }));
    expect(rig.server.calls).toHaveLength(1);
    expect(b.acknowledgement?.honoured).toBe('{"resourceSubscriptions":["x://a"]}');
    rig.server.call(0).data(TOOLS_CHANGED);
    rig.server.call(0).data(updated("x://a"));
    expect(a.notices).toHaveLength(2);
    expect(b.notices).toHaveLength(1);
    a.leave();
    expect(rig.server.call(0).aborted).toBe(false);
    b.leave();
    expect(rig.server.call(0).aborted).toBe(true);
  });

  test("that come in a burst change it once, with no gap between old and new", async () => {
    const rig = startHttpRig();
    const base = await watch(rig.upstream, interestIn({ tools: true }));
    await acknowledge(rig, 0);
    const uris = ["x://1", "x://2", "x://3", "x://4", "x://5"];
    const watches = await Promise.all(
      uris.map((uri) => watch(rig.upstream, interestIn({ uris: [uri] }))),
    );
    expect(rig.server.calls).toHaveLength(1);
    await rig.clock.pass(50);
    expect(rig.server.calls).toHaveLength(2);
    expect(paramsOf(rig.server.call(1))).toMatchObject({
      notifications: { toolsListChanged: true, resourceSubscriptions: uris },
    });
    rig.server.call(0).data(TOOLS_CHANGED);
    expect(rig.server.call(0).aborted).toBe(false);
    await acknowledge(rig, 1);
    expect(rig.server.call(0).aborted).toBe(true);
    expect(watches.map(({ acknowledgement }) => acknowledgement?.honoured)).toEqual(
      uris.map((uri) => `{"resourceSubscriptions":["${uri}"]}`),
    );
    rig.server.call(1).data(TOOLS_CHANGED);
    expect(base.notices).toHaveLength(2);
    expect(rig.server.calls).toHaveLength(2);
  });

  test("are not hurt by one that the server refuses", async () => {
    const rig = startHttpRig();
    const base = await watch(rig.upstream, interestIn({ tools: true }));
    await acknowledge(rig, 0);
    const refused = await watch(rig.upstream, interestIn({ uris: ["x://a"] }));
    await rig.clock.pass(50);
    await rig.fail(1, 400, '{"code":-32602,"message":"m"}');
    expect(refused.error).toMatchObject({ error: { code: -32602 } });
    rig.server.call(0).data(TOOLS_CHANGED);
    expect(base.notices).toHaveLength(1);
    expect(base.ended).toBe(false);
  });

  test("hear of parts of what they watch", async () => {
    const rig = startHttpRig();
    const dir = await watch(rig.upstream, interestIn({ uris: ["file:///a"] }));
    await acknowledge(rig, 0);
    const other = await watch(rig.upstream, interestIn({ uris: ["file:///ab"] }));
    await rig.clock.pass(50);
    await acknowledge(rig, 1);
    rig.server.call(1).data(updated("file:///a/b.txt"));
    expect([dir.notices.length, other.notices.length]).toEqual([1, 0]);
    rig.server.call(1).data(updated("file:///elsewhere"));
    expect([dir.notices.length, other.notices.length]).toEqual([2, 1]);
  });
});

test("watches of several principals, of anonymous callers and with foreign filters share nothing", async () => {
  const rig = startHttpRig();
  await watch(rig.upstream, interestIn({ tools: true }), callerOf("a"));
  await watch(rig.upstream, interestIn({ tools: true }), callerOf("b"));
  await watch(rig.upstream, interestIn({ tools: true }), callerOf("a", { anonymous: true }));
  const foreign = await watch(
    rig.upstream,
    interestIn({ tools: true, extra: { taskIds: ["1"] } }),
    callerOf("a"),
  );
  expect(rig.server.calls).toHaveLength(4);
  expect(rig.server.calls.map(({ headers }) => headers["authorization"])).toEqual([
    "Bearer a",
    "Bearer b",
    "Bearer a",
    "Bearer a",
  ]);
  await acknowledge(rig, 3);
  expect(foreign.acknowledgement?.honoured).toBe('{"toolsListChanged":true,"taskIds":["1"]}');
  rig.server
    .call(3)
    .data('data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{"n":1.0}}\n\n');
  expect(foreign.notices).toEqual([{ method: "notifications/tasks", params: '{"n":1.0}' }]);
  await rig.upstream.close();
  expect(foreign.ended).toBe(true);
  expect(rig.clock.pending).toBe(0);
});

describe("a subscription that is lost", () => {
  test("is opened again, and everything that was watched may have changed", async () => {
    const rig = startHttpRig();
    const watched = await watch(rig.upstream, interestIn({ tools: true, uris: ["x://a"] }));
    await acknowledge(rig, 0);
    rig.server.call(0).fails("broken");
    await rig.clock.pass(1_000);
    expect(rig.server.calls).toHaveLength(2);
    expect(watched.notices).toEqual([]);
    await acknowledge(rig, 1);
    expect(watched.notices).toEqual([
      { method: "notifications/tools/list_changed", params: undefined },
      { method: "notifications/resources/updated", params: '{"uri":"x://a"}' },
    ]);
    rig.server.call(1).data(TOOLS_CHANGED);
    expect(watched.notices).toHaveLength(3);
  });

  test("is given up after a few attempts at growing distance", async () => {
    const rig = startHttpRig();
    const watched = await watch(rig.upstream, interestIn({ tools: true }));
    await acknowledge(rig, 0);
    rig.server.call(0).fails("broken");
    for (const [index, ms] of [1_000, 2_000, 4_000, 8_000, 16_000].entries()) {
      await rig.clock.pass(ms - 1);
      expect(rig.server.calls).toHaveLength(index + 1);
      await rig.clock.pass(1);
      rig.server.call(index + 1).fails("refused");
      await settle();
    }
    expect(watched.ended).toBe(true);
    expect(rig.upstream.stats().watchers).toBe(0);
    expect(rig.clock.pending).toBe(0);
  });

  test("on purpose is opened again too, not in a hurry", async () => {
    const rig = startHttpRig();
    await watch(rig.upstream, interestIn({ tools: true }));
    await acknowledge(rig, 0);
    rig.server
      .call(0)
      .data('data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}\n\n');
    await rig.clock.pass(999);
    expect(rig.server.calls).toHaveLength(1);
    await rig.clock.pass(1);
    await acknowledge(rig, 1);
    rig.server.call(1).fails("broken");
    await rig.clock.pass(1_999);
    expect(rig.server.calls).toHaveLength(2);
    await rig.clock.pass(1);
    expect(rig.server.calls).toHaveLength(3);
  });
});

describe("on a pipe", () => {
  test("changes find their subscription by its id, and leaving is said", async () => {
    const rig = startPipeRig();
    const a = await watch(rig.upstream, interestIn({ tools: true }), callerOf("a"));
    const b = await watch(rig.upstream, interestIn({ tools: true }), callerOf("b"));
    const meta = (id: number) => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } });
    const acknowledged = (id: number) => ({
      method: "notifications/subscriptions/acknowledged",
      params: { ...meta(id), notifications: { toolsListChanged: true } },
    });
    await rig.says(acknowledged(2), acknowledged(1));
    await rig.says({ method: "notifications/tools/list_changed", params: meta(2) });
    expect([a.notices.length, b.notices.length]).toEqual([0, 1]);
    a.leave();
    expect(rig.sent().at(-1)).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: 1 },
    });
  });

  test("a server that tears it down is asked again", async () => {
    const rig = startPipeRig();
    await watch(rig.upstream, interestIn({ tools: true }));
    await rig.says({
      method: "notifications/subscriptions/acknowledged",
      params: {
        _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
        notifications: { toolsListChanged: true },
      },
    });
    await rig.says({ method: "notifications/cancelled", params: { requestId: 1 } });
    await rig.clock.pass(1_000);
    expect(
      rig
        .sent()
        .filter((message) => (message as { method: string }).method === "subscriptions/listen"),
    ).toHaveLength(2);
  });

  test("a process that ends has its successor asked", async () => {
    const rig = startPipeRig();
    await watch(rig.upstream, interestIn({ tools: true }));
    await rig.says({
      method: "notifications/subscriptions/acknowledged",
      params: {
        _meta: { "io.modelcontextprotocol/subscriptionId": 1 },
        notifications: { toolsListChanged: true },
      },
    });
    rig.channels[0]?.ends("exit 1");
    await rig.clock.pass(1_000);
    expect(rig.channels).toHaveLength(2);
    expect(rig.sent()).toMatchObject([{ id: 2, method: "subscriptions/listen" }]);
  });
});
