import { describe, expect, test } from "vitest";
import { settle } from "../support/manual-clock.js";
import { complete } from "../support/scripted-service.js";
import { startLegacyTalk } from "./legacy-talk.js";

describe("a task that the server makes of a call", () => {
  const SERVER_WITH_TASKS = '{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}';
  const handle = (status: string, more = ""): string =>
    `{"resultType":"task","taskId":"t/1","status":"${status}","createdAt":"","lastUpdatedAt":"","ttlMs":null${more}}`;

  async function startTask() {
    const talk = startLegacyTalk();
    await talk.open({ server: SERVER_WITH_TASKS, client: { roots: {} } });
    talk.say({ id: 1, method: "tools/call", params: { name: "t", _meta: { progressToken: 1 } } });
    talk.calls[0]?.settle(complete(handle("working", ',"pollIntervalMs":200,"statusMessage":"a"')));
    await settle();
    return talk;
  }

  test("is declared, polled at its own pace, and gives the call its result", async () => {
    const talk = await startTask();
    expect(talk.calls[0]?.operation.caller.capabilities).toBe(
      '{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}',
    );
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/progress", params: { progressToken: 1, progress: 1, message: "a" } },
    ]);
    await talk.clock.pass(199);
    expect(talk.calls).toHaveLength(1);
    await talk.clock.pass(1);
    expect(talk.calls[1]?.operation).toMatchObject({
      method: "tasks/get",
      params: '{"taskId":"t/1"}',
    });
    talk.calls[1]?.settle(
      complete(handle("completed", ',"result":{"resultType":"complete","content":[],"n":1.0}')),
    );
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":{"content":[],"n":1.0}}',
    ]);
  });

  test("has each of its questions asked once", async () => {
    const talk = await startTask();
    const asking = complete(
      handle("input_required", ',"inputRequests":{"where":{"method":"roots/list"}}'),
    );
    await talk.clock.pass(200);
    talk.calls[1]?.settle(asking);
    await settle();
    expect(await talk.heard()).toMatchObject([{}, { id: 1, method: "roots/list" }]);
    talk.say({ id: 1, result: { roots: [] } });
    await settle();
    expect(talk.calls[2]?.operation).toMatchObject({
      method: "tasks/update",
      params: '{"taskId":"t/1","inputResponses":{"where":{"roots":[]}}}',
    });
    talk.calls[2]?.settle(complete("{}"));
    await talk.clock.pass(1_000);
    talk.calls[3]?.settle(asking);
    expect(await talk.heard()).toEqual([]);
  });

  test("that fails gives the call its error", async () => {
    const talk = await startTask();
    await talk.clock.pass(200);
    talk.calls[1]?.settle(complete(handle("failed", ',"error":{"code":-32000,"message":"m"}')));
    expect(await talk.heard()).toMatchObject([
      {},
      { id: 1, error: { code: -32000, message: "m" } },
    ]);
  });

  test("is cancelled as a task when the client cancels the call", async () => {
    const talk = await startTask();
    talk.say({ method: "notifications/cancelled", params: { requestId: 1 } });
    await settle();
    expect(talk.calls[1]?.operation).toMatchObject({
      method: "tasks/cancel",
      params: '{"taskId":"t/1"}',
    });
    expect(talk.calls[1]?.signal.aborted).toBe(false);
    expect(talk.clock.pending).toBe(0);
  });

  test("is asked about again when the server cannot be reached for a moment", async () => {
    const talk = await startTask();
    await talk.clock.pass(200);
    const error = { code: -32603, text: '{"code":-32603,"message":"m"}' };
    talk.calls[1]?.settle({ type: "failed", error, cause: "unavailable" });
    await talk.clock.pass(200);
    expect(talk.calls).toHaveLength(3);
  });
});
