import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { createRig, type RigOptions } from "./upstream-rig.js";

const CAPABILITIES = { tools: {}, tasks: { requests: { tools: { call: {} } }, cancel: {} } };
const RELATED = { "io.modelcontextprotocol/related-task": { taskId: "task-1" } };
const PAGES: Readonly<Record<string, unknown>> = {
  first: { tools: [{ name: "plain", execution: { taskSupport: "optional" } }], nextCursor: "" },
  second: { tools: [{ name: "t", execution: { taskSupport: "required" } }], nextCursor: "" },
};

function listTools(request: SeenRequest): boolean {
  if (request.method !== "tools/list") return false;
  request.session.reply(request, PAGES[request.params?.cursor === "" ? "second" : "first"]);
  return true;
}

function task(status: string, pollInterval = 1_000) {
  return { taskId: "task-1", status, ttl: 1, pollInterval };
}

/** A call of a tool that runs as a task only; the task has started. */
async function started(options: RigOptions = {}) {
  const rig = createRig({ capabilities: CAPABILITIES, handle: listTools, ...options });
  const round = rig.call({ wantsProgress: true });
  await settle();
  const request = rig.server.last("tools/call");
  rig.server.session.reply(request, { task: task("working") });
  await settle();
  return { ...rig, rig, round, request };
}

describe("a tool that runs as a task only", () => {
  it("is started as a task, followed, and answered like a plain call", async () => {
    const { clock, request, round, server } = await started();
    expect(request.params).toMatchObject({ name: "t", task: { ttl: 3_600_000 } });
    await clock.pass(1_000);
    server.session.reply(server.last("tasks/get"), task("working", 3_000));
    await clock.pass(2_999);
    expect(server.requests.filter(({ method }) => method === "tasks/get")).toHaveLength(1);
    await clock.pass(1);
    server.session.reply(server.last("tasks/get"), task("completed"));
    await settle();
    expect(server.last("tasks/result").params).toEqual({ taskId: "task-1" });
    server.session.reply(server.last("tasks/result"), { content: [], _meta: RELATED });
    await settle();
    expect(round.result()).toMatchObject({ resultType: "complete", content: [] });
    expect(JSON.stringify(round.result())).not.toContain("task");
  });

  it("keeps its progress after it was started", async () => {
    const { request, round, server } = await started();
    server.session.progress(request, 7);
    expect(round.notices).toEqual([{ method: "notifications/progress", params: '{"progress":7}' }]);
  });

  it("is looked at as soon as the server reports a status", async () => {
    const { server } = await started();
    server.session.tell("notifications/tasks/status", task("completed"));
    expect(server.last("tasks/get").params).toEqual({ taskId: "task-1" });
  });

  it("asks the client while the result is fetched, by the task the question names", async () => {
    const { call, clock, round, server } = await started();
    const other = call({ params: { name: "plain" } });
    await clock.pass(1_000);
    server.session.reply(server.last("tasks/get"), task("input_required"));
    await settle();
    const question = server.session.ask("elicitation/create", { message: "?", _meta: RELATED });
    await clock.pass(50);
    expect(other.outcome).toBeUndefined();
    expect(round.result().inputRequests.e1.params).toEqual({ message: "?" });
    const responses = { e1: { action: "accept", content: {} } };
    const retry = call({ state: round.state(), responses });
    await settle();
    expect(server.session.answerTo(question)).toEqual(responses.e1);
    server.session.reply(server.last("tasks/result"), { content: [], done: true });
    await settle();
    expect(retry.result()).toMatchObject({ done: true });
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  it("is cancelled as a task when the client goes away, running or parked", async () => {
    const { round, request, server } = await started();
    round.leave();
    await settle();
    expect(server.last("tasks/cancel").params).toEqual({ taskId: "task-1" });
    expect(server.session.cancelled).not.toContain(request.id);

    const away = await started();
    await away.clock.pass(1_000);
    away.server.session.reply(away.server.last("tasks/get"), task("input_required"));
    await settle();
    away.server.session.ask("elicitation/create", { message: "?", _meta: RELATED });
    await away.clock.pass(50 + 10 * 60_000);
    expect(away.server.last("tasks/cancel").params).toEqual({ taskId: "task-1" });
    expect(away.upstream.stats()).toMatchObject({ calls: 0, parked: 0 });
  });

  it("passes on what went wrong", async () => {
    const { clock, round, server } = await started();
    await clock.pass(1_000);
    server.session.reply(server.last("tasks/get"), task("failed"));
    await settle();
    server.session.fail(server.last("tasks/result"), -32000, "it broke");
    await settle();
    expect(round.error()).toEqual({ code: -32000, message: "it broke" });
  });

  it("fails with its session, and is not started a second time", async () => {
    const { clock, round, server } = await started();
    await clock.pass(1_000);
    server.session.lose(server.last("tasks/get"), { kind: "session-gone", detail: "404" });
    await settle();
    expect(round.error()).toMatchObject({ data: { reason: "upstream-lost" } });
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  });
});

describe("other tools", () => {
  it("are called plainly, and the list is read once for a session", async () => {
    const { call, server } = createRig({
      capabilities: CAPABILITIES,
      handle(request) {
        if (!listTools(request)) request.session.reply(request, { content: [] });
      },
    });
    for (let n = 0; n < 3; n++) {
      call({ params: { name: "plain" } });
      await settle();
    }
    expect(server.requests.map(({ method }) => method)).toEqual([
      "tools/list",
      "tools/list",
      "tools/call",
      "tools/call",
      "tools/call",
    ]);
    expect(server.last("tools/call").params).toEqual({ name: "plain" });
  });

  it("cost no list where the server knows no tasks", async () => {
    const { call, server } = createRig();
    call();
    await settle();
    expect(server.requests.map(({ method }) => method)).toEqual(["tools/call"]);
  });
});
