import { describe, expect, test } from "vitest";
import { settle } from "../support/manual-clock.js";
import { SSE_TYPE } from "./fakes.js";
import { callerOf, idOf, operationOf, paramsOf, startHttpRig, startPipeRig } from "./modern-rig.js";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "client", version: "2" },
  "io.modelcontextprotocol/clientCapabilities": { roots: {} },
};

describe("a round over HTTP", () => {
  test("carries the envelope and the headers that mirror it", async () => {
    const { server, relay, answer } = startHttpRig();
    const relayed = await relay(
      operationOf("prompts/get", '{"name":"Hello, 世界","arguments":{"x":1.10}}'),
    );
    expect(server.call(0).headers).toEqual({
      authorization: "Bearer p",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "prompts/get",
      "mcp-name": "=?base64?SGVsbG8sIOS4lueVjA==?=",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    });
    expect(server.call(0).body).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"Hello, 世界","arguments":{"x":1.10},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"client","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}',
    );
    const result = '{"resultType":"complete","messages":[],"n":9007199254740993}';
    await answer(0, result);
    expect(relayed.outcome).toEqual({ type: "complete", result });
  });

  test("passes an envelope that is right as it stands, to the character", async () => {
    const { server, relay } = startHttpRig();
    const params =
      '{ "_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}, "x":1.0,"io.modelcontextprotocol/clientInfo":{"name":"client","version":"2"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}, "uri":"x://a"}';
    await relay(operationOf("resources/read", params));
    expect(server.call(0).body).toBe(
      `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":${params}}`,
    );
  });

  test("overwrites what the client cannot say and takes away what it did not", async () => {
    const { server, relay } = startHttpRig();
    await relay(
      operationOf(
        "tools/list",
        '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/logLevel":"debug","progressToken":"mine"}}',
        { caller: callerOf("p", { identity: undefined }) },
      ),
    );
    expect(paramsOf(server.call(0))).toEqual({
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      },
    });
  });

  test("asks for logs and progress where they are wanted, with a token of its own", async () => {
    const { server, relay, answer } = startHttpRig();
    await relay(operationOf("tools/list"));
    await answer(0, "{}");
    const relayed = await relay(
      operationOf("tools/list", '{"_meta":{"progressToken":"mine"}}', {
        logLevel: "info",
        wantsProgress: true,
      }),
    );
    expect(paramsOf(server.call(1))).toEqual({
      _meta: { ...ENVELOPE, progressToken: 2, "io.modelcontextprotocol/logLevel": "info" },
    });
    server
      .call(1)
      .streams(
        'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}\n\n',
        'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":2}}\n\n',
        'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.0}}\n\n',
      );
    expect(relayed.notices).toEqual([
      { method: "notifications/progress", params: '{"progress":1}' },
      { method: "notifications/message", params: '{"level":"info","data":1.0}' },
    ]);
  });

  test("sends answers and state as they are, under a fresh id", async () => {
    const { server, relay, answer } = startHttpRig();
    const first = await relay(operationOf("resources/read", '{"uri":"x://a"}'));
    const state = '"a\\u0000\\ud83d \u00e9"';
    await answer(
      0,
      `{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":${state}}`,
    );
    expect(first.outcome).toMatchObject({
      type: "input-required",
      requests: '{"k":{"method":"roots/list"}}',
      continuation: state,
    });
    const answers = { continuation: state, responses: '{"k":{"roots":[]}}' };
    await relay(operationOf("resources/read", '{"uri":"x://a"}', { answers }));
    expect(idOf(server.call(1))).toBe(2);
    expect(server.call(1).body).toContain(
      `{"uri":"x://a","inputResponses":{"k":{"roots":[]}},"requestState":${state},"_meta"`,
    );
  });

  test("is cancelled by closing the answer, without a word", async () => {
    const { server, relay } = startHttpRig();
    const relayed = await relay(operationOf("tools/list"));
    relayed.cancel();
    await settle();
    expect(server.call(0).aborted).toBe(true);
    expect(server.calls).toHaveLength(1);
    expect(relayed.outcome).toMatchObject({ type: "failed", cause: "cancelled" });
  });
});

describe("a result", () => {
  test("without a type is complete and is given one", async () => {
    const { relay, answer } = startHttpRig();
    const relayed = await relay(operationOf("tools/list"));
    await answer(0, '{"tools":[]}');
    expect(relayed.outcome).toEqual({
      type: "complete",
      result: '{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}',
    });
  });

  test.each([
    ["tools/list", '{"resultType":"input_required","requestState":"s"}'],
    ["prompts/get", '{"resultType":"input_required"}'],
    ["prompts/get", '{"resultType":"input_required","requestState":7}'],
    ["prompts/get", '{"resultType":"input_required","inputRequests":[]}'],
    ["prompts/get", '{"resultType":"task","taskId":"1","status":"working"}'],
    ["prompts/get", '{"resultType":"odd"}'],
    ["prompts/get", '{"resultType":7}'],
    ["prompts/get", "[]"],
  ])("of %s that is %s is invalid", async (method, result) => {
    const { relay, answer } = startHttpRig();
    const relayed = await relay(operationOf(method));
    await answer(0, result);
    expect(relayed.outcome).toMatchObject({ type: "failed", error: { code: -32603 } });
  });

  test("that is a task passes where the caller declared tasks", async () => {
    const { relay, says, upstream } = startPipeRig();
    const caller = callerOf("p", {
      capabilities: '{"extensions":{"io.modelcontextprotocol/tasks":{}}}',
    });
    const declared = await relay(operationOf("tools/call", '{"name":"t"}', { caller }));
    const undeclared = await relay(operationOf("tools/call", '{"name":"t"}'));
    const task = { resultType: "task", taskId: "1", status: "working" };
    await says({ id: 1, result: task }, { id: 2, result: task });
    expect(declared.outcome).toMatchObject({ type: "complete" });
    expect(undeclared.outcome).toMatchObject({ type: "failed", error: { code: -32603 } });
    await upstream.close();
  });
});

describe("a failure", () => {
  test.each([
    [404, -32601, "unknown-method"],
    [400, -32021, "peer"],
    [200, -32602, "peer"],
  ])("with status %s and code %s is the server's own", async (status, code, cause) => {
    const { relay, fail } = startHttpRig();
    const relayed = await relay(operationOf("prompts/get", '{"name":"p"}'));
    const text = `{"code":${code},"message":"m","data":{"n":1.0}}`;
    await fail(0, status, text);
    expect(relayed.outcome).toEqual({ type: "failed", error: { code, text }, cause });
  });

  test("in the middle of a tool is not repeated: it may have completed", async () => {
    const { server, relay, upstream } = startHttpRig();
    const relayed = await relay(operationOf("tools/call", '{"name":"t"}'));
    server.call(0).answers(200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`);
    await settle();
    server.call(1).head(200, SSE_TYPE);
    server.call(1).fails("broken");
    await settle();
    expect(server.calls).toHaveLength(2);
    expect(relayed.outcome).toMatchObject({
      type: "failed",
      error: { code: -32603, text: expect.stringContaining("may have completed") },
      cause: "unavailable",
    });
    await upstream.close();
  });

  test("in the middle of what changes nothing is repeated once", async () => {
    const { server, relay } = startHttpRig();
    const relayed = await relay(operationOf("resources/read", '{"uri":"x://a"}'));
    server.call(0).fails("broken");
    await settle();
    expect(idOf(server.call(1))).toBe(2);
    server.call(1).fails("broken");
    await settle();
    expect(server.calls).toHaveLength(2);
    expect(relayed.outcome).toMatchObject({ type: "failed" });
  });

  test("of a retry with answers is not repeated", async () => {
    const { server, relay } = startHttpRig();
    const answers = { continuation: '"s"', responses: undefined };
    await relay(operationOf("resources/read", '{"uri":"x://a"}', { answers }));
    server.call(0).fails("broken");
    await settle();
    expect(server.calls).toHaveLength(1);
  });

  test("before anything was sent is repeated once, even for a tool", async () => {
    const { server, relay } = startHttpRig();
    const relayed = await relay(operationOf("tools/call", '{"name":"t"}'));
    server.call(0).answers(200, '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}');
    await settle();
    server.call(1).fails("refused");
    await settle();
    server.call(2).fails("refused");
    await settle();
    expect(server.calls).toHaveLength(3);
    expect(relayed.outcome).toMatchObject({ type: "failed", cause: "unavailable" });
  });

  test("for want of an answer closes the request; progress is a sign of life", async () => {
    const { server, clock, relay } = startHttpRig({ requestTimeoutMs: 300_000 });
    const relayed = await relay(
      operationOf("prompts/get", '{"name":"p"}', { wantsProgress: true }),
    );
    server.call(0).head(200, SSE_TYPE);
    await clock.pass(299_000);
    server
      .call(0)
      .data(
        'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n',
      );
    await clock.pass(299_000);
    expect(server.call(0).aborted).toBe(false);
    await clock.pass(1_000);
    expect(server.call(0).aborted).toBe(true);
    expect(relayed.outcome).toMatchObject({ type: "failed", cause: "timeout" });
  });

  test("of the revision is settled when the server names ours after all", async () => {
    const { server, relay, fail } = startHttpRig();
    const first = await relay(operationOf("tools/list"));
    await fail(0, 400, '{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}');
    expect(server.calls).toHaveLength(2);
    await fail(1, 400, '{"code":-32022,"message":"m","data":{"supported":["2027-01-01"]}}');
    expect(first.outcome).toMatchObject({
      type: "failed",
      error: { code: -32603, text: expect.stringContaining("2027-01-01") },
    });
  });
});

describe("headers of tool parameters", () => {
  const TOOLS =
    '{"tools":[{"name":"run","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer","x-mcp-header":"Level"},"dry":{"type":"boolean","x-mcp-header":"Dry"}}}},{"name":"plain"}]}';

  test("are sent although nobody listed the tools, from all pages", async () => {
    const { server, relay, answer } = startHttpRig();
    const relayed = await relay(
      operationOf(
        "tools/call",
        '{"name":"run","arguments":{"region":"Hello, 世界","level":4.2e1,"dry":true}}',
      ),
    );
    expect(JSON.parse(server.call(0).body ?? "").method).toBe("tools/list");
    await answer(0, '{"tools":[{"name":"other"}],"nextCursor":""}');
    expect(paramsOf(server.call(1))).toEqual({ cursor: "", _meta: ENVELOPE });
    await answer(1, TOOLS);
    expect(server.call(2).headers).toMatchObject({
      "mcp-method": "tools/call",
      "mcp-name": "run",
      "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=",
      "mcp-param-level": "42",
      "mcp-param-dry": "true",
    });
    await answer(2, '{"resultType":"complete","content":[]}');
    expect(relayed.outcome?.type).toBe("complete");
    await relay(operationOf("tools/call", '{"name":"run","arguments":{"region":null}}'));
    expect(
      Object.keys(server.call(3).headers).filter((key) => key.startsWith("mcp-param")),
    ).toEqual([]);
    await relay(operationOf("tools/call", '{"name":"unknown"}'));
    expect(JSON.parse(server.call(4).body ?? "").method).toBe("tools/call");
  });

  test("are read anew when the server says they do not match, once", async () => {
    const { server, relay, answer, fail } = startHttpRig();
    const relayed = await relay(
      operationOf("tools/call", '{"name":"run","arguments":{"region":"eu"}}'),
    );
    await answer(0, '{"tools":[{"name":"run"}]}');
    expect(server.call(1).headers).not.toHaveProperty("mcp-param-region");
    await fail(1, 400, '{"code":-32020,"message":"Header mismatch"}');
    await answer(2, TOOLS);
    expect(server.call(3).headers).toMatchObject({ "mcp-param-region": "eu" });
    await fail(3, 400, '{"code":-32020,"message":"Header mismatch"}');
    expect(server.calls).toHaveLength(4);
    expect(relayed.outcome).toMatchObject({ type: "failed", error: { code: -32020 } });
  });

  test("pass when the client sent more than the schema asks for", async () => {
    const { server, relay, answer } = startHttpRig();
    await relay(
      operationOf("tools/call", '{"name":"run","arguments":{"region":"eu"}}', {
        parameterHeaders: { "mcp-param-other": "x", "mcp-param-region": "spoofed" },
      }),
    );
    await answer(0, TOOLS);
    expect(server.call(1).headers).toMatchObject({
      "mcp-param-other": "x",
      "mcp-param-region": "eu",
    });
  });

  test("with an invalid annotation take their tool out of the list, with a warning", async () => {
    const { relay, answer, journal } = startHttpRig();
    const bad =
      '{"name":"bad","inputSchema":{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}}';
    const relayed = await relay(operationOf("tools/list"));
    await answer(0, `{"resultType":"complete","tools":[{"name":"a"},${bad}],"n":1.0}`);
    expect(relayed.outcome).toEqual({
      type: "complete",
      result: '{"resultType":"complete","tools":[{"name":"a"}],"n":1.0}',
    });
    expect(journal.lines).toEqual(["warn tool-left-out"]);
  });

  test("do not concern a pipe", async () => {
    const { relay, sent, says } = startPipeRig();
    const bad =
      '{"name":"bad","inputSchema":{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}}';
    const relayed = await relay(operationOf("tools/list"));
    await says({ id: 1, result: { resultType: "complete", tools: [JSON.parse(bad)] } });
    expect(relayed.outcome).toMatchObject({ result: expect.stringContaining('"bad"') });
    await relay(operationOf("tools/call", '{"name":"bad","arguments":{"n":1}}'));
    expect(sent()).toMatchObject([{ method: "tools/list" }, { method: "tools/call" }]);
  });
});

describe("a pipe", () => {
  test("carries a cancellation as a notification with the bridge's own id", async () => {
    const { relay, sent } = startPipeRig();
    await relay(operationOf("tools/list"));
    const relayed = await relay(operationOf("tools/call", '{"name":"t"}'));
    relayed.cancel();
    await settle();
    expect(sent().slice(2)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 2, reason: "the client cancelled the request" },
      },
    ]);
  });

  test("tells progress by its token and logs by who asked for them", async () => {
    const { relay, says, journal } = startPipeRig();
    const a = await relay(
      operationOf("tools/call", '{"name":"a"}', { wantsProgress: true, logLevel: "info" }),
    );
    const b = await relay(operationOf("tools/call", '{"name":"b"}', { wantsProgress: true }));
    await says(
      { method: "notifications/progress", params: { progressToken: 2, progress: 1 } },
      { method: "notifications/progress", params: { progressToken: 3, progress: 1 } },
      { method: "notifications/message", params: { level: "info", data: "x" } },
    );
    expect(a.notices.map(({ method }) => method)).toEqual(["notifications/message"]);
    expect(b.notices.map(({ method }) => method)).toEqual(["notifications/progress"]);
    expect(journal.lines).toEqual(["debug notification-dropped"]);
  });

  test("never gives log messages to one principal that may be another's", async () => {
    const { relay, says } = startPipeRig();
    const mine = { logLevel: "info" as const };
    const a = await relay(
      operationOf("tools/call", '{"name":"t"}', { ...mine, caller: callerOf("a") }),
    );
    const b = await relay(
      operationOf("tools/call", '{"name":"t"}', { ...mine, caller: callerOf("b") }),
    );
    await says({ method: "notifications/message", params: { level: "info", data: "x" } });
    expect([...a.notices, ...b.notices]).toEqual([]);
  });

  test("that breaks loses what was at work and is opened again for the next request", async () => {
    const { relay, channels, sent } = startPipeRig();
    const lost = await relay(operationOf("tools/call", '{"name":"t"}'));
    channels[0]?.ends("exit 1");
    await settle();
    expect(lost.outcome).toMatchObject({ type: "failed", cause: "unavailable" });
    await relay(operationOf("tools/call", '{"name":"t"}'));
    expect(channels).toHaveLength(2);
    expect(sent()).toMatchObject([{ id: 2, method: "tools/call" }]);
  });

  test("that breaks under what changes nothing is opened again at once", async () => {
    const { relay, channels, says } = startPipeRig();
    const relayed = await relay(operationOf("tools/list"));
    channels[0]?.ends("exit 1");
    await settle();
    await says({ id: 2, result: { resultType: "complete", tools: [] } });
    expect(relayed.outcome?.type).toBe("complete");
  });
});

describe("what the server says of itself", () => {
  const RESULT =
    '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"i","ttlMs":TTL,"cacheScope":"SCOPE","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}';
  const never = new AbortController().signal;
  const result = (ttl: number, scope = "private"): string =>
    RESULT.replace("TTL", `${ttl}`).replace("SCOPE", scope);

  test("is asked anew when it may not be kept", async () => {
    const { server, upstream, answer } = startHttpRig();
    const first = upstream.describe(callerOf(), never);
    await settle();
    await answer(0, result(0));
    expect(await first).toEqual({
      era: "modern",
      revision: "2026-07-28",
      result: result(0),
      capabilities: '{"tools":{}}',
      serverInfo: '{"name":"s","version":"1"}',
      instructions: '"i"',
    });
    void upstream.describe(callerOf(), never);
    await settle();
    expect(server.calls).toHaveLength(2);
  });

  test("is kept for its time and its caller, with what is left of it", async () => {
    const { server, clock, upstream, answer } = startHttpRig();
    const first = upstream.describe(callerOf("a"), never);
    await settle();
    await answer(0, result(60_000));
    await first;
    await clock.pass(20_000);
    expect((await upstream.describe(callerOf("a"), never)).result).toBe(result(40_000));
    void upstream.describe(callerOf("b"), never);
    await settle();
    expect(server.calls).toHaveLength(2);
    await clock.pass(40_000);
    void upstream.describe(callerOf("a"), never);
    await settle();
    expect(server.calls).toHaveLength(3);
  });

  test("is kept for all when it is public", async () => {
    const { server, upstream, answer } = startHttpRig();
    const first = upstream.describe(callerOf("a"), never);
    await settle();
    await answer(0, result(60_000, "public"));
    await first;
    await upstream.describe(callerOf("b", { anonymous: true }), never);
    expect(server.calls).toHaveLength(1);
  });

  test.each([
    ['{"code":-32022,"message":"m","data":{"supported":["2027-01-01"]}}', "2027-01-01"],
    ['{"code":-32601,"message":"no such method"}', "-32601"],
  ])("is an error when it is %s", async (error, words) => {
    const { upstream, fail } = startHttpRig();
    const described = upstream.describe(callerOf(), never);
    const failed = expect(described).rejects.toThrow(words);
    await settle();
    await fail(0, 400, error);
    await failed;
  });

  test("names a revision we speak, or there is no bridge", async () => {
    const { upstream, answer } = startHttpRig();
    const described = upstream.describe(callerOf(), never);
    const failed = expect(described).rejects.toThrow("2027-01-01");
    await settle();
    await answer(0, result(0).replace('"2026-07-28"', '"2027-01-01"'));
    await failed;
  });
});

test("a notification neither era knows is posted with its sender's headers", async () => {
  const { server, upstream } = startHttpRig();
  upstream.notify("notifications/acme", '{"a":1.0}', callerOf());
  await settle();
  expect(server.call(0)).toMatchObject({
    body: '{"jsonrpc":"2.0","method":"notifications/acme","params":{"a":1.0}}',
    headers: {
      authorization: "Bearer p",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "notifications/acme",
    },
  });
});

test("the end leaves nothing behind", async () => {
  const { server, clock, upstream, relay } = startHttpRig();
  const relayed = await relay(operationOf("tools/list"));
  await upstream.close();
  await settle();
  expect(server.call(0).aborted).toBe(true);
  expect(relayed.outcome).toMatchObject({ type: "failed" });
  expect(upstream.stats()).toEqual({ requests: 0, watchers: 0 });
  expect(clock.pending).toBe(0);
});
