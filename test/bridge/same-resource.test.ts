import { describe, expect, it } from "vitest";
import { createChannelPair } from "../../adapters/memory/channel-pair.js";
import { createSealer } from "../../adapters/system/sealer.js";
import { toSameResource } from "../../src/bridge/same-resource.js";
import {
  type Caller,
  type ChannelSender,
  createBridge,
  type HttpTarget,
  LOCAL_PRINCIPAL,
} from "../../src/index.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import { ask, type RecordedReply } from "../support/recorded-reply.js";
import { createFakeServer, createRecordingJournal, type FakeCall } from "../upstream/fakes.js";
import { agreement } from "./fake-link.js";

const AUTHENTICATE = 'Bearer error="invalid_token", Basic realm="y"';
const REFUSED = { "content-type": "text/plain", "www-authenticate": AUTHENTICATE };

const CALLER: Caller = {
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
  identity: undefined,
  capabilities: "{}",
  affinity: undefined,
  authorization: undefined,
};

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A bridge in front of an HTTP server that the test plays, call by call. */
function startRig(sameResource = true) {
  const server = createFakeServer();
  const clock = createManualClock();
  const bridge = createBridge({
    clock,
    entropy: createCountingEntropy(),
    sealer: createSealer(),
    journal: createRecordingJournal(),
    sameResource,
    target: {
      type: "http",
      name: "server",
      url: "http://server.test/mcp",
      exchange: server.exchange,
      headers: () => ({ authorization: "operator", "x-key": "k" }),
    },
  });
  const post = (message: object, headers: Record<string, string>): RecordedReply =>
    ask(bridge.handle, {
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      headers: { host: "localhost", "content-type": "application/json", ...headers },
    });
  return {
    server,
    clock,
    bridge,
    asLegacy: (user: string, message: object, headers = {}) =>
      post(message, { authorization: user, ...headers }),
    asModern: (user: string, method: string) =>
      post(
        { id: 1, method, params: { _meta: ENVELOPE } },
        { authorization: user, "mcp-protocol-version": "2026-07-28", "mcp-method": method },
      ),
    /** The newest call of this method that is not answered, with the credentials it came with. */
    newest(method: string, authorization?: string): FakeCall {
      const found = server.calls.findLast(
        (call) =>
          methodOf(call) === method &&
          (authorization === undefined || call.headers["authorization"] === authorization),
      );
      if (found === undefined) throw new Error(`the server has seen no ${method}`);
      return found;
    },
    count: (method: string) => server.calls.filter((call) => methodOf(call) === method).length,
  };
}

const methodOf = ({ body, method }: FakeCall): string =>
  body === undefined ? method : JSON.parse(body).method;

const idOf = ({ body }: FakeCall): number => JSON.parse(body ?? "{}").id;

const initialize = {
  id: "init",
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  },
};

describe("a server that is the same resource", () => {
  const target: HttpTarget = {
    type: "http",
    name: "server",
    url: "http://server.test/mcp",
    exchange: () => () => undefined,
    headers: () => ({ authorization: "operator", "x-key": "k" }),
  };

  it("gets the credentials of its clients and nobody else's, and answers them", () => {
    const shared = toSameResource(target);
    expect(shared).toMatchObject({ url: target.url, name: "server", relaysChallenges: true });
    expect(shared.headers({ ...CALLER, authorization: "client" })).toEqual({
      authorization: "client",
      "x-key": "k",
    });
    expect(shared.headers(CALLER)).toEqual({ "x-key": "k" });
    expect(shared.headers(undefined)).toEqual({ "x-key": "k" });
  });

  it("is behind HTTP, for elsewhere requests have no credentials", () => {
    const channel = {
      type: "channel",
      name: "child",
      spawns: true,
      open: () => expect.unreachable(),
    } as const;
    expect(() =>
      createBridge({
        clock: createManualClock(),
        entropy: createCountingEntropy(),
        sealer: createSealer(),
        journal: createRecordingJournal(),
        sameResource: true,
        target: channel,
      }),
    ).toThrow(/child is not behind HTTP/);
  });
});

describe("refused credentials", () => {
  it("of a legacy client's handshake come back at once, and the handshake goes out once", async () => {
    const rig = startRig();
    const reply = rig.asLegacy("alice", initialize);
    await settle();
    rig.newest("server/discover").answers(404);
    await settle();
    rig.newest("initialize").answers(401, "", REFUSED);
    await settle();
    expect([reply.status, reply.headers["www-authenticate"]]).toEqual([401, AUTHENTICATE]);
    expect(JSON.parse(reply.body)).toMatchObject({ id: "init", error: { code: -32603 } });
    expect(rig.count("initialize")).toBe(1);
  });

  it("in the middle of a coupled session are tried once more from the start", async () => {
    const rig = startRig();
    const opened = rig.asLegacy("alice", initialize);
    await settle();
    rig.newest("server/discover").answers(404);
    await settle();
    const session = { "content-type": "application/json", "mcp-session-id": "s-1" };
    const first = rig.newest("initialize");
    first.answers(200, agreement(idOf(first)), session);
    await settle();
    const mine = { "mcp-session-id": opened.headers["mcp-session-id"] ?? "" };
    for (const id of [1, 2]) {
      const reply = rig.asLegacy("alice", { id, method: "tools/list" }, mine);
      await settle();
      if (id === 1) rig.newest("tools/list").answers(401, "", REFUSED);
      await settle();
      expect(reply.status).toBeUndefined();
      rig.newest("initialize").answers(401, "", REFUSED);
      await settle();
      expect([reply.status, reply.headers["www-authenticate"]]).toEqual([401, AUTHENTICATE]);
      expect(JSON.parse(reply.body)).toMatchObject({ id });
    }
    expect(rig.count("initialize")).toBe(3);
  });

  it("of one caller change nothing for another, not even what is not proved yet", async () => {
    const rig = startRig();
    const good = rig.asModern("alice", "tools/list");
    await settle();
    rig.newest("server/discover").answers(404);
    await settle();
    const bad = rig.asModern("mallory", "tools/list");
    await settle();
    rig.newest("initialize", "mallory").answers(401, "", REFUSED);
    await settle();
    expect([bad.status, bad.headers["www-authenticate"]]).toEqual([401, AUTHENTICATE]);
    const pending = rig.newest("initialize", "alice");
    pending.answers(200, agreement(idOf(pending)));
    await settle();
    rig.newest("notifications/initialized").answers(202);
    await settle();
    rig.newest("GET").answers(405);
    await settle();
    const list = rig.newest("tools/list", "alice");
    list.answers(200, `{"jsonrpc":"2.0","id":${idOf(list)},"result":{"tools":[]}}`);
    await settle();
    expect(good.status).toBe(200);
    const again = rig.asModern("alice", "tools/list");
    await settle();
    expect(rig.newest("tools/list", "alice")).not.toBe(list);
    expect([rig.count("server/discover"), again.status]).toEqual([1, undefined]);
  });

  it("of the operator are told to nobody", async () => {
    const rig = startRig(false);
    const reply = rig.asModern("alice", "tools/list");
    await settle();
    const probe = rig.newest("server/discover");
    expect(probe.headers).toMatchObject({ authorization: "operator", "x-key": "k" });
    probe.answers(401, "", REFUSED);
    await settle();
    expect([reply.status, reply.headers]).toEqual([503, { "content-type": "application/json" }]);
    expect(reply.body).toContain("upstream-unauthorized");
    expect(rig.server.calls.some(({ headers }) => headers["authorization"] === "alice")).toBe(
      false,
    );
  });
});

describe("a client on a channel", () => {
  const open = (rig: ReturnType<typeof startRig>, sender?: ChannelSender) => {
    const { left, right } = createChannelPair();
    right.start({
      message: () => undefined,
      dropped: () => undefined,
      closed: () => undefined,
    });
    void rig.bridge.accept(left, sender);
    const list = (id: number) =>
      right.send(
        JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: { _meta: ENVELOPE } }),
      );
    return { list };
  };
  const handshakes = async (rig: ReturnType<typeof startRig>): Promise<number> => {
    await settle();
    if (rig.count("server/discover") > 0) rig.newest("server/discover").answers(404);
    await settle();
    return rig.count("initialize");
  };

  it("shares its session between its requests, and with its other channels", async () => {
    const rig = startRig(false);
    const [one, two] = [open(rig), open(rig)];
    one.list(1);
    one.list(2);
    two.list(1);
    expect(await handshakes(rig)).toBe(1);
  });

  it("that cannot be told from others shares nothing", async () => {
    const rig = startRig(false);
    const { list } = open(rig, { anonymous: true });
    list(1);
    list(2);
    expect(await handshakes(rig)).toBe(2);
  });

  it("brings its credentials, and shares with nobody who has others or none", async () => {
    const rig = startRig();
    for (const authorization of ["alice", "bob", "alice", undefined]) {
      open(rig, { authorization }).list(1);
    }
    expect(await handshakes(rig)).toBe(3);
    const came = rig.server.calls
      .filter((call) => methodOf(call) === "initialize")
      .map(({ headers }) => headers["authorization"]);
    expect(came.sort()).toEqual(["alice", "bob", undefined]);
  });
});
