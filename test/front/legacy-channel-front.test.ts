import { describe, expect, test } from "vitest";
import { BridgeError } from "../../src/index.js";
import { settle } from "../support/manual-clock.js";
import { complete } from "../support/scripted-service.js";
import { advertise, startLegacyTalk } from "./legacy-talk.js";

const initialize = (id: unknown, protocolVersion: unknown) => ({
  id,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } },
});

describe("the handshake", () => {
  test("is answered from what the modern server says of itself", async () => {
    const talk = startLegacyTalk();
    talk.say(initialize(0, "2025-06-18"));
    expect(talk.describes[0]?.caller).toMatchObject({
      principal: "local",
      identity: '{"name":"c","version":"1"}',
      capabilities: "{}",
    });
    talk.describes[0]?.settle(advertise('{"tools":{},"logging":{}}'));
    expect(await talk.heard()).toEqual([
      {
        jsonrpc: "2.0",
        id: 0,
        result: {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {}, logging: {} },
          serverInfo: { name: "server", version: "1.0" },
        },
      },
    ]);
  });

  test.each(["2026-07-28", "2099-01-01", "1999-01-01", ""])(
    "that asks for %j gets the newest legacy revision",
    async (asked) => {
      const talk = startLegacyTalk();
      talk.say(initialize(1, asked));
      talk.describes[0]?.settle(advertise());
      expect(await talk.heard()).toMatchObject([{ result: { protocolVersion: "2025-11-25" } }]);
    },
  );

  test.each([17, undefined, null])("that asks for %j is invalid", async (asked) => {
    const talk = startLegacyTalk();
    talk.say(initialize(1, asked));
    expect(await talk.heard()).toMatchObject([{ id: 1, error: { code: -32602 } }]);
    expect(talk.describes).toEqual([]);
  });

  test("may be tried again when the server could not be reached", async () => {
    const talk = startLegacyTalk();
    talk.say(initialize(1, "2025-11-25"));
    talk.describes[0]?.reject(
      new BridgeError("not-bridgeable", "the server speaks 2027-01-01 only"),
    );
    expect(await talk.heard()).toMatchObject([
      { id: 1, error: { code: -32603, message: "the server speaks 2027-01-01 only" } },
    ]);
    talk.say({ id: 2, method: "tools/list" });
    expect(await talk.heard()).toMatchObject([{ id: 2, error: { code: -32600 } }]);
    talk.say(initialize(3, "2025-11-25"));
    talk.describes[1]?.settle(advertise());
    expect(await talk.heard()).toMatchObject([{ id: 3, result: {} }]);
  });

  test("happens once", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say(initialize(2, "2025-11-25"));
    expect(await talk.heard()).toMatchObject([{ id: 2, error: { code: -32600 } }]);
    talk.say({ id: 3, method: "tools/list" });
    expect(talk.calls).toHaveLength(1);
  });

  test("comes before everything but ping", async () => {
    const talk = startLegacyTalk();
    talk.say({ id: "p", method: "ping" });
    talk.say({ id: 1, method: "tools/list" });
    expect(await talk.heard()).toMatchObject([
      { id: "p", result: {} },
      { id: 1, error: { code: -32600 } },
    ]);
  });

  test("holds back what the client sends before its answer", async () => {
    const talk = startLegacyTalk();
    talk.say(initialize(1, "2025-11-25"));
    talk.say({ id: 2, method: "tools/list" });
    talk.say({ id: 3, method: "prompts/list" });
    talk.say({ method: "notifications/cancelled", params: { requestId: 3 } });
    expect(talk.calls).toEqual([]);
    talk.describes[0]?.settle(advertise());
    await settle();
    expect(talk.calls.map(({ operation }) => operation.method)).toEqual(["tools/list"]);
  });

  test("is not broken by a discover before initialized", async () => {
    const talk = startLegacyTalk();
    await talk.open({ bare: true });
    talk.say({ id: 2, method: "server/discover", params: {} });
    expect(await talk.heard()).toMatchObject([{ id: 2, error: { code: -32601 } }]);
    talk.say({ method: "notifications/initialized" });
    talk.say({ id: 3, method: "tools/list" });
    talk.calls[0]?.settle(complete('{"resultType":"complete","tools":[]}'));
    expect(await talk.heard()).toEqual([{ jsonrpc: "2.0", id: 3, result: { tools: [] } }]);
  });
});

describe("a request", () => {
  test("is relayed with what the handshake declared, its params to the character", async () => {
    const talk = startLegacyTalk();
    await talk.open({
      revision: "2025-11-25",
      client: { roots: { listChanged: true }, elicitation: {}, tasks: {} },
    });
    const params =
      '{"name":"t","arguments":{"id":1915883588174806058,"x":1.10},"_meta":{"com.acme/k":1}}';
    talk.sayText(`{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":${params}}`);
    expect(talk.calls[0]?.operation).toEqual({
      method: "tools/call",
      params,
      caller: {
        principal: "local",
        anonymous: false,
        affinity: undefined,
        authorization: undefined,
        identity: '{"name":"client","version":"2"}',
        capabilities: '{"roots":{},"elicitation":{}}',
      },
      logLevel: undefined,
      wantsProgress: false,
      answers: undefined,
    });
    talk.calls[0]?.settle(
      complete('{"resultType":"complete","content":[],"structuredContent":{"n":9007199254740993}}'),
    );
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","id":1.0,"result":{"content":[],"structuredContent":{"n":9007199254740993}}}',
    ]);
  });

  test.each(["0", '""', '"0"', '"1"', "1", "1.5", "9007199254740993", `"${"x".repeat(200)}"`])(
    "with the id %s is answered under it",
    async (id) => {
      const talk = startLegacyTalk();
      await talk.open();
      talk.sayText(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`);
      talk.calls[0]?.settle(complete("{}"));
      expect(await talk.heardTexts()).toEqual([`{"jsonrpc":"2.0","id":${id},"result":{}}`]);
    },
  );

  test("that the server refuses keeps the server's error", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "resources/read", params: { uri: "x://a" } });
    const error = { code: -32602, text: '{"code":-32602,"message":"m","data":{"uri":"x://a"}}' };
    talk.calls[0]?.settle({ type: "failed", error, cause: "peer" });
    expect(await talk.heardTexts()).toEqual([`{"jsonrpc":"2.0","id":1,"error":${error.text}}`]);
  });

  test.each([
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "roots/list",
  ])("for %s is unknown here", async (method) => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method, params: {} });
    expect(await talk.heard()).toMatchObject([{ id: 1, error: { code: -32601 } }]);
    expect(talk.calls).toEqual([]);
  });

  test("that neither era knows goes to the server, and so does a notification", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "acme/run", params: { a: 1 } });
    talk.say({ method: "notifications/acme", params: { b: 1 } });
    talk.say({ method: "notifications/roots/list_changed" });
    expect(talk.calls.map(({ operation }) => operation.method)).toEqual(["acme/run"]);
    expect(talk.notified.map(([method, params]) => [method, params])).toEqual([
      ["notifications/acme", '{"b":1}'],
    ]);
  });

  test("beyond the limit is refused, not queued", async () => {
    const talk = startLegacyTalk({ maxInFlightPerPrincipal: 1 });
    await talk.open();
    talk.say({ id: 1, method: "tools/list" });
    talk.say({ id: 2, method: "tools/list" });
    expect(await talk.heard()).toMatchObject([
      { id: 2, error: { code: -32603, data: { reason: "overloaded" } } },
    ]);
    talk.calls[0]?.settle(complete("{}"));
    await talk.heard();
    talk.say({ id: 3, method: "tools/list" });
    expect(talk.calls).toHaveLength(2);
  });
});

describe("cancellation", () => {
  test("reaches the server and leaves the call without an answer", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 101, method: "tools/call", params: { name: "t" } });
    talk.say({ method: "notifications/cancelled", params: { requestId: 101, reason: "enough" } });
    expect(talk.calls[0]?.signal.aborted).toBe(true);
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    talk.calls[0]?.settle(complete('{"content":[]}'));
    expect(await talk.heard()).toEqual([]);
  });

  test.each(["7", '"7"', '"1"'])("of %s does not hit another call", async (id) => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "tools/list" });
    talk.sayText(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`,
    );
    expect(talk.calls[0]?.signal.aborted).toBe(false);
  });
});

describe("notices of a call", () => {
  test("carry the client's own token and rise", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.sayText(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"1"}}}',
    );
    expect(talk.calls[0]?.operation.wantsProgress).toBe(true);
    for (const value of ["1", "1.0", "0.5", "2.50"]) {
      talk.calls[0]?.notices({
        method: "notifications/progress",
        params: `{"progress":${value},"total":3}`,
      });
    }
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"total":3,"progressToken":"1"}}',
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2.50,"total":3,"progressToken":"1"}}',
    ]);
  });

  test("without a token are not progress", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "tools/call", params: { name: "t" } });
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    talk.calls[0]?.notices({ method: "notifications/tools/list_changed", params: undefined });
    talk.calls[0]?.notices({ method: "notifications/acme", params: '{"a":1.0}' });
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/acme","params":{"a":1.0}}',
    ]);
  });
});

describe("the log level", () => {
  test("is kept here, goes with each request, and filters", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "logging/setLevel", params: { level: "warning" } });
    expect(await talk.heardTexts()).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}']);
    talk.say({ id: 2, method: "tools/list" });
    expect(talk.calls[0]?.operation.logLevel).toBe("warning");
    for (const level of ["info", "error"]) {
      talk.calls[0]?.notices({
        method: "notifications/message",
        params: `{"level":"${level}","data":1.0}`,
      });
    }
    expect(await talk.heardTexts()).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1.0}}',
    ]);
  });

  test("must exist", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "logging/setLevel", params: { level: "loud" } });
    expect(await talk.heard()).toMatchObject([{ id: 1, error: { code: -32602 } }]);
  });

  test("is unknown where the server logs nothing", async () => {
    const talk = startLegacyTalk();
    await talk.open({ server: '{"tools":{}}' });
    talk.say({ id: 1, method: "logging/setLevel", params: { level: "info" } });
    expect(await talk.heard()).toMatchObject([{ id: 1, error: { code: -32601 } }]);
  });
});

describe("batches", () => {
  const BATCH =
    '[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/acme"},{"jsonrpc":"2.0","id":2,"method":"ping"},7]';

  test("are taken and answered as one in the revision that has them", async () => {
    const talk = startLegacyTalk();
    await talk.open({ revision: "2025-03-26" });
    talk.sayText(BATCH);
    expect(await talk.heard()).toEqual([]);
    talk.calls[0]?.settle(complete('{"tools":[]}'));
    expect(await talk.heard()).toEqual([
      [
        { jsonrpc: "2.0", id: 2, result: {} },
        {
          jsonrpc: "2.0",
          id: null,
          error: { code: -32600, message: "a message must be an object" },
        },
        { jsonrpc: "2.0", id: 1, result: { tools: [] } },
      ],
    ]);
    expect(talk.notified).toHaveLength(1);
  });

  test.each(["2024-11-05", "2025-06-18", "2025-11-25"])(
    "are refused, not ignored, at %s",
    async (revision) => {
      const talk = startLegacyTalk();
      await talk.open({ revision });
      talk.sayText(BATCH);
      expect(await talk.heard()).toMatchObject([{ id: null, error: { code: -32600 } }]);
      expect(talk.calls).toEqual([]);
    },
  );
});

describe("the end of the conversation", () => {
  test("lets calls in flight finish, and starts none", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "tools/list" });
    const over = talk.finish(5_000);
    talk.say({ id: 2, method: "tools/list" });
    expect(await talk.heard()).toMatchObject([{ id: 2, error: { code: -32600 } }]);
    talk.calls[0]?.settle(complete("{}"));
    await over;
    expect(await talk.heard()).toMatchObject([{ id: 1, result: {} }]);
    expect(talk.clock.pending).toBe(0);
  });

  test("cancels what takes longer than it may", async () => {
    const talk = startLegacyTalk();
    await talk.open();
    talk.say({ id: 1, method: "tools/list" });
    const over = talk.finish(5_000);
    await talk.clock.pass(5_000);
    await over;
    expect(talk.calls[0]?.signal.aborted).toBe(true);
    expect(await talk.heard()).toEqual([]);
  });
});
