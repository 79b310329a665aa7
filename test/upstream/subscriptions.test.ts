import { describe, expect, it } from "vitest";
import type { Interest, Notice } from "../../src/model/notice.js";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { type CallOptions, createRig, type Rig, type RigOptions } from "./upstream-rig.js";

const EVERY_LIST = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
};

function answerAll(request: SeenRequest): void {
  if (request.params?.uri === "x://unknown") request.session.fail(request, -32602, "unknown");
  else request.session.reply(request, {});
}

function interest(wanted: Partial<Interest>): Interest {
  return {
    toolsListChanged: false,
    promptsListChanged: false,
    resourcesListChanged: false,
    resourceSubscriptions: [],
    text: "{}",
    ...wanted,
  };
}

async function watch(rig: Rig, wanted: Partial<Interest>, options: CallOptions = {}) {
  const controller = new AbortController();
  const notices: Notice[] = [];
  let ended = false;
  const acknowledgement = await rig.upstream.watch(
    interest(wanted),
    rig.caller(options),
    (notice) => notices.push(notice),
    controller.signal,
  );
  void acknowledgement.ended.then(() => {
    ended = true;
  });
  return {
    notices,
    methods: () => notices.map(({ method }) => method.replace("notifications/", "")),
    honoured: JSON.parse(acknowledgement.honoured),
    leave: () => controller.abort(),
    get ended() {
      return ended;
    },
  };
}

function rigOf(options: RigOptions = {}): Rig {
  return createRig({ handle: answerAll, ...options });
}

function subscriptionLog(rig: Rig): readonly string[] {
  return rig.server.requests
    .filter(({ method }) => method.startsWith("resources/"))
    .map(({ method, params }) => `${method.replace("resources/", "")} ${params.uri}`);
}

describe("watching for changes", () => {
  it("honours what the server announces and agrees to, and nothing else", async () => {
    const rig = rigOf();
    const all = await watch(rig, {
      ...EVERY_LIST,
      resourceSubscriptions: ["x://a", "x://unknown"],
    });
    expect(all.honoured).toEqual({ ...EVERY_LIST, resourceSubscriptions: ["x://a"] });
    const some = await watch(rig, { toolsListChanged: true });
    expect(some.honoured).toEqual({ toolsListChanged: true });
    const poor = rigOf({ capabilities: { tools: {}, resources: { listChanged: true } } });
    const little = await watch(poor, { ...EVERY_LIST, resourceSubscriptions: ["x://a"] });
    expect(little.honoured).toEqual({ resourcesListChanged: true });
    const deaf = await watch(rigOf({ listens: false }), {
      ...EVERY_LIST,
      resourceSubscriptions: ["x://a"],
    });
    expect(deaf.honoured).toEqual({});
  });

  it("tells each watcher of what it asked for, once for changes that follow closely", async () => {
    const rig = rigOf();
    const tools = await watch(rig, { toolsListChanged: true });
    const prompts = await watch(rig, { promptsListChanged: true });
    for (let n = 0; n < 3; n++) rig.server.session.tell("notifications/tools/list_changed");
    await rig.clock.pass(99);
    expect(tools.notices).toEqual([]);
    await rig.clock.pass(1);
    expect(tools.methods()).toEqual(["tools/list_changed"]);
    rig.server.session.tell("notifications/tools/list_changed");
    await rig.clock.pass(100);
    expect(tools.methods()).toEqual(["tools/list_changed", "tools/list_changed"]);
    expect(prompts.notices).toEqual([]);
  });

  it("hears of changed lists from every session of the principal, and of no other", async () => {
    const rig = rigOf();
    const ann = await watch(rig, { toolsListChanged: true }, { principal: "ann" });
    const bob = await watch(rig, { toolsListChanged: true }, { principal: "bob" });
    rig.call({ principal: "ann", capabilities: "{}" });
    await settle();
    rig.server.sessions[2]?.tell("notifications/tools/list_changed");
    await rig.clock.pass(100);
    expect(ann.methods()).toEqual(["tools/list_changed"]);
    expect(bob.notices).toEqual([]);
  });

  it("of callers that cannot be told apart is confined to their own session", async () => {
    const rig = rigOf();
    const anonymous = { caller: { anonymous: true } };
    const one = await watch(rig, { toolsListChanged: true }, anonymous);
    const two = await watch(rig, { toolsListChanged: true }, anonymous);
    rig.server.sessions[1]?.tell("notifications/tools/list_changed");
    await rig.clock.pass(100);
    expect(one.notices).toEqual([]);
    expect(two.methods()).toEqual(["tools/list_changed"]);
  });

  it("routes an updated resource to those who watch it, or a whole it is part of, or anything", async () => {
    const rig = rigOf();
    const one = await watch(rig, { resourceSubscriptions: ["x://a"] });
    const two = await watch(rig, { resourceSubscriptions: ["x://b", "x://b/"] });
    const lists = await watch(rig, EVERY_LIST);
    const update = async (uri: string): Promise<void> => {
      rig.server.session.tell("notifications/resources/updated", { uri });
      await rig.clock.pass(100);
    };
    await update("x://a");
    expect([one.notices.length, two.notices.length]).toEqual([1, 0]);
    await update("x://b/part");
    expect([one.notices.length, two.notices.length]).toEqual([1, 1]);
    expect(two.notices[0]?.params).toBe('{"uri":"x://b/part"}');
    await update("x://bb");
    expect([one.notices.length, two.notices.length]).toEqual([2, 2]);
    expect(lists.notices).toEqual([]);
  });

  it("subscribes a resource once, and unsubscribes it a while after its last watcher", async () => {
    const rig = rigOf();
    const one = await watch(rig, { resourceSubscriptions: ["x://a", "x://a"] });
    const two = await watch(rig, { resourceSubscriptions: ["x://a"] });
    one.leave();
    await rig.clock.pass(5_000);
    expect(subscriptionLog(rig)).toEqual(["subscribe x://a"]);
    two.leave();
    await rig.clock.pass(1_000);
    const three = await watch(rig, { resourceSubscriptions: ["x://a"] });
    await rig.clock.pass(5_000);
    expect(subscriptionLog(rig)).toEqual(["subscribe x://a"]);
    three.leave();
    await rig.clock.pass(2_000);
    expect(subscriptionLog(rig)).toEqual(["subscribe x://a", "unsubscribe x://a"]);
    expect(three.ended).toBe(false);
  });

  it("says nothing after the watcher has left", async () => {
    const rig = rigOf();
    const one = await watch(rig, { toolsListChanged: true });
    rig.server.session.tell("notifications/tools/list_changed");
    one.leave();
    await rig.clock.pass(1_000);
    expect(one.notices).toEqual([]);
    expect(rig.upstream.stats().watchers).toBe(0);
  });

  it("does not wait for ever for a server that does not answer to a subscription", async () => {
    const rig = rigOf({ handle: () => {} });
    const pending = watch(rig, { toolsListChanged: true, resourceSubscriptions: ["x://a"] });
    await settle();
    await rig.clock.pass(5_000);
    expect((await pending).honoured).toEqual({ toolsListChanged: true });
  });

  it("moves to a new session when its own is lost, and assumes that everything changed", async () => {
    const rig = rigOf();
    const one = await watch(rig, { toolsListChanged: true, resourceSubscriptions: ["x://a"] });
    rig.server.session.crash();
    await rig.clock.pass(100);
    expect(rig.server.sessions).toHaveLength(2);
    expect(subscriptionLog(rig)).toEqual(["subscribe x://a", "subscribe x://a"]);
    expect(one.methods()).toEqual(["tools/list_changed", "resources/updated"]);
    rig.server.session.tell("notifications/resources/updated", { uri: "x://a" });
    await rig.clock.pass(100);
    expect(one.notices).toHaveLength(3);
    expect(one.ended).toBe(false);
  });

  it("moves when the server no longer knows the session", async () => {
    const rig = createRig({
      handle(request) {
        const lost = request.session.index === 0 && request.method === "tools/call";
        if (lost) request.session.lose(request, { kind: "session-gone", detail: "404" });
        else answerAll(request);
      },
    });
    const one = await watch(rig, { toolsListChanged: true });
    const round = rig.call();
    await rig.clock.pass(100);
    expect(round.outcome?.type).toBe("complete");
    expect(rig.server.sessions.map(({ closed }) => closed)).toEqual([true, false]);
    expect(one.methods()).toEqual(["tools/list_changed"]);
  });

  it("ends when the server stays away, and says so", async () => {
    let down = false;
    const rig = rigOf({
      beforeOpen() {
        if (down) throw new Error("refused");
      },
    });
    const one = await watch(rig, { toolsListChanged: true });
    down = true;
    rig.server.session.crash();
    await rig.clock.pass(10 * 60_000);
    expect(one.ended).toBe(true);
    expect(rig.upstream.stats().watchers).toBe(0);
  });

  it("ends with the bridge", async () => {
    const rig = rigOf();
    const one = await watch(rig, { toolsListChanged: true });
    await rig.upstream.close();
    await settle();
    expect(one.ended).toBe(true);
  });

  it("is refused beyond the limits", async () => {
    const rig = rigOf({ limits: { maxWatchesPerPrincipal: 1, maxWatchedUris: 2 } });
    const uris = ["x://a", "x://b", "x://c"];
    await expect(watch(rig, { resourceSubscriptions: uris })).rejects.toMatchObject({
      code: "overloaded",
      data: { limit: "maxWatchedUris" },
    });
    await watch(rig, { toolsListChanged: true });
    await expect(watch(rig, { toolsListChanged: true })).rejects.toMatchObject({
      data: { limit: "maxWatchesPerPrincipal" },
    });
    await watch(rig, { toolsListChanged: true }, { principal: "bob" });
  });
});
