import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest, ServerSession } from "./scripted-legacy-server.js";
import { type CallOptions, createRig, type Rig } from "./upstream-rig.js";

function levels(session: ServerSession): readonly string[] {
  return session.texts
    .map((text) => JSON.parse(text))
    .filter(({ method }) => method === "logging/setLevel")
    .map(({ params }) => params.level);
}

function answerLevels(request: SeenRequest): void {
  if (request.method === "logging/setLevel") request.session.reply(request, {});
}

function named(rig: Rig, name: string): SeenRequest {
  const found = rig.server.requests.find((request) => request.params?.name === name);
  if (found === undefined) throw new Error(`no call ${name}`);
  return found;
}

function logged(round: { readonly notices: readonly { readonly params: unknown }[] }) {
  return round.notices.map(({ params }) => JSON.parse(String(params)).level);
}

describe("log messages", () => {
  it("set the session to the most talkative request and reach each request as it asked", async () => {
    const rig = createRig({ associates: true, handle: answerLevels });
    const loud = rig.call({ params: { name: "loud" }, logLevel: "debug" });
    const quiet = rig.call({ params: { name: "quiet" }, logLevel: "error" });
    const silent = rig.call({ params: { name: "silent" } });
    await settle();
    const { session } = rig.server;
    expect(levels(session)).toEqual(["debug"]);
    for (const name of ["loud", "quiet", "silent"]) {
      for (const level of ["debug", "warning", "error", "nonsense"]) {
        session.tell("notifications/message", { level, data: 1 }, named(rig, name));
      }
    }
    expect(logged(loud)).toEqual(["debug", "warning", "error"]);
    expect(logged(quiet)).toEqual(["error"]);
    expect(silent.notices).toEqual([]);
  });

  it("make a call wait until the level is set, but not for ever", async () => {
    const { call, clock, server } = createRig();
    call({ logLevel: "info" });
    await settle();
    expect(server.requests.map(({ method }) => method)).toEqual(["logging/setLevel"]);
    await clock.pass(1_000);
    expect(server.requests.map(({ method }) => method)).toEqual(["logging/setLevel", "tools/call"]);
  });

  it("do not matter to a call whose server refuses to set the level", async () => {
    const { call, server } = createRig({
      handle(request) {
        if (request.method === "logging/setLevel") request.session.fail(request, -32601, "no");
        else request.session.reply(request, {});
      },
    });
    const round = call({ logLevel: "info" });
    await settle();
    expect(server.requests).toHaveLength(2);
    expect(round.outcome?.type).toBe("complete");
  });

  it("are never asked of a server that did not declare logging", async () => {
    const { call, server } = createRig({ capabilities: { tools: {} } });
    call({ logLevel: "debug" });
    await settle();
    expect(server.requests.map(({ method }) => method)).toEqual(["tools/call"]);
  });

  it("become quiet again after the last request that wanted them", async () => {
    const rig = createRig({ handle: answerLevels });
    rig.call({ params: { name: "a" }, logLevel: "debug" });
    await settle();
    rig.server.session.reply(named(rig, "a"), {});
    await rig.clock.pass(1_000);
    rig.call({ params: { name: "b" }, logLevel: "warning" });
    await rig.clock.pass(2_000);
    expect(levels(rig.server.session)).toEqual(["debug", "warning"]);
    rig.server.session.reply(named(rig, "b"), {});
    await rig.clock.pass(2_000);
    expect(levels(rig.server.session)).toEqual(["debug", "warning", "emergency"]);
  });

  it("of no stream belong to the one request that wants them, or to nobody", async () => {
    const rig = createRig({ handle: answerLevels });
    const one = rig.call({ params: { name: "a" }, logLevel: "info" });
    rig.call({ params: { name: "b" } });
    await settle();
    rig.server.session.tell("notifications/message", { level: "info", data: 1 });
    expect(logged(one)).toEqual(["info"]);
    const two = rig.call({ params: { name: "c" }, logLevel: "info" });
    await settle();
    rig.server.session.tell("notifications/message", { level: "info", data: 2 });
    expect(logged(one)).toEqual(["info"]);
    expect(two.notices).toEqual([]);
  });

  it("are set again on the session that replaces a lost one", async () => {
    const rig = createRig({ handle: answerLevels });
    rig.call({ params: { name: "a" }, logLevel: "info" });
    await settle();
    rig.server.session.crash();
    rig.call({ params: { name: "b" }, logLevel: "info" });
    await settle();
    expect(rig.server.sessions.map(levels)).toEqual([["info"], ["info"]]);
  });
});

describe("other notifications", () => {
  it("of an unknown kind go to their request, or to the only one, or nowhere", async () => {
    const alone = createRig();
    const only = alone.call();
    await settle();
    alone.server.session.tell("notifications/acme", { a: 1 });
    expect(only.notices).toEqual([{ method: "notifications/acme", params: '{"a":1}' }]);
    const other = alone.call();
    await settle();
    alone.server.session.tell("notifications/acme", { a: 2 });
    expect(only.notices).toHaveLength(1);
    expect(other.notices).toHaveLength(0);

    const related = createRig({ associates: true });
    const rounds = ["a", "b"].map((name) => related.call({ params: { name } }));
    await settle();
    related.server.session.tell("notifications/acme", {}, named(related, "b"));
    expect(rounds.map(({ notices }) => notices.length)).toEqual([0, 1]);
  });

  it("of changes never reach a request", async () => {
    const { call, server } = createRig({ associates: true });
    const round = call();
    await settle();
    for (const kind of ["tools/list_changed", "resources/updated"]) {
      server.session.tell(`notifications/${kind}`, { uri: "x://a" }, server.last("tools/call"));
    }
    expect(round.notices).toEqual([]);
  });

  it("of the client go to its only session, and nowhere when it has none or several", async () => {
    const { call, server, upstream, caller } = createRig();
    const notify = (options?: CallOptions): void =>
      upstream.notify("notifications/acme", '{"a":1}', caller(options));
    notify();
    call();
    await settle();
    notify();
    notify({ principal: "bob" });
    expect(server.session.log.filter((line) => line === "notifications/acme")).toHaveLength(1);
    call({ capabilities: "{}" });
    await settle();
    notify();
    expect(server.sessions.flatMap(({ log }) => log)).toHaveLength(7);
  });
});
