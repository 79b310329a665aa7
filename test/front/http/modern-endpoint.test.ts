import { expect, test } from "vitest";
import type { Failed } from "../../../src/model/operation.js";
import { settle } from "../../support/manual-clock.js";
import { complete, createScriptedService } from "../../support/scripted-service.js";
import { ENVELOPE, expectError, params, requestText, startTalk } from "./modern-conversation.js";

const DONE = '{"resultType":"complete"}';

function failed(code: number, cause: Failed["cause"]): Failed {
  return { type: "failed", error: { code, text: `{"code":${code},"message":"m"}` }, cause };
}

test("a request without an envelope is malformed and the missing keys are named", () => {
  const talk = startTalk();
  const missing = expectError(talk.post("7", "tools/list", "{}"), 400, 7, -32602);
  expect(missing["data"]).toEqual({
    missing: [
      "io.modelcontextprotocol/protocolVersion",
      "io.modelcontextprotocol/clientCapabilities",
    ],
  });
  const pv = '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}';
  expectError(talk.post("8", "tools/list", pv), 400, 8, -32602);
  expect(talk.calls).toEqual([]);
});

test("header and envelope must name the same revision", () => {
  const talk = startTalk();
  const send = (revision: string | undefined) =>
    talk.post('"a"', "tools/list", params(), { "mcp-protocol-version": revision });
  expectError(send("2025-11-25"), 400, "a", -32020);
  expectError(send(undefined), 400, "a", -32020);
  expect(talk.calls).toEqual([]);
});

test("a revision this era does not have is refused with the ones there are", () => {
  const talk = startTalk();
  const envelope = ENVELOPE.replace("2026-07-28", "1900-01-01");
  const reply = talk.post("1", "tools/list", `{"_meta":{${envelope}}}`, {
    "mcp-protocol-version": "1900-01-01",
    "mcp-method": undefined,
  });
  expect(expectError(reply, 400, 1, -32022)["data"]).toEqual({
    supported: ["2026-07-28"],
    requested: "1900-01-01",
  });
});

test("method and name headers must agree with the body", () => {
  const talk = startTalk();
  const call = (headers: Record<string, string | undefined>) =>
    talk.post("1", "prompts/get", params(',"name":"t"'), headers);
  expectError(call({}), 400, 1, -32020);
  expectError(call({ "mcp-name": "u" }), 400, 1, -32020);
  expectError(call({ "mcp-name": "t", "mcp-method": "Prompts/get" }), 400, 1, -32020);
  expectError(call({ "mcp-name": "t", "mcp-method": undefined }), 400, 1, -32020);
  expect(talk.calls).toEqual([]);
  call({ "mcp-name": " =?base64?dA==?= " });
  expect(talk.calls).toHaveLength(1);
});

test.each([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/list",
  "tasks/result",
  "sampling/createMessage",
])("the removed method %s is not found", (method) => {
  const talk = startTalk();
  expectError(talk.post("3", method, params()), 404, 3, -32601);
  expect(talk.calls).toEqual([]);
});

test("a method nobody defines goes to the server, which may know it", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "acme/frobnicate", params(',"x":1.0'));
  expect(talk.calls[0]?.operation).toMatchObject({
    method: "acme/frobnicate",
    params: params(',"x":1.0'),
  });
  talk.calls[0]?.settle(failed(-32601, "unknown-method"));
  await settle();
  expectError(reply, 404, 1, -32601);
});

test("a method nobody defines is not found where forwarding is off", () => {
  const talk = startTalk({ forwardUnknown: false });
  expectError(talk.post("1", "acme/frobnicate", params()), 404, 1, -32601);
});

test("tasks need the extension on the request itself", () => {
  const talk = startTalk();
  const reply = talk.post("1", "tasks/get", params(',"taskId":"t"'), { "mcp-name": "t" });
  expect(expectError(reply, 400, 1, -32021)["data"]).toEqual({
    requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
  });
  const able = ENVELOPE.replace("{}", '{"extensions":{"io.modelcontextprotocol/tasks":{}}}');
  talk.post("2", "tasks/get", `{"_meta":{${able}},"taskId":"t"}`, { "mcp-name": "t" });
  expect(talk.calls).toHaveLength(1);
});

test.each([
  [-32602, "peer", 200],
  [-32601, "peer", 200],
  [-32603, "peer", 200],
  [42, "peer", 200],
  [-32021, "peer", 400],
  [-32021, "refused", 400],
  [-32601, "unknown-method", 404],
  [-32602, "refused", 400],
  [-32603, "unavailable", 503],
  [-32603, "overloaded", 503],
  [-32603, "timeout", 504],
] as const)("error %i with cause %s has status %i", async (code, cause, status) => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/list", params());
  talk.calls[0]?.settle(failed(code, cause));
  await settle();
  expectError(reply, status, 1, code);
});

test("an error after the first notice travels in the stream", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/list", params("", ',"progressToken":1'));
  talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
  talk.calls[0]?.settle(failed(-32021, "refused"));
  await settle();
  expect(reply).toMatchObject({ status: 200, ended: true });
  expect(reply.body).toMatch(/data: \{"jsonrpc":"2.0","id":1,"error":\{"code":-32021,.*\}\}\n\n$/);
});

test("a silent response becomes a stream after five seconds and is kept alive", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/list", params());
  talk.clock.advance(4_999);
  expect(reply.status).toBeUndefined();
  talk.clock.advance(1);
  expect(reply).toMatchObject({ status: 200, streamed: true, body: ": \n\n" });
  talk.clock.advance(14_999);
  expect(reply.body).toBe(": \n\n");
  talk.clock.advance(1);
  expect(reply.body).toBe(": \n\n: \n\n");
  talk.calls[0]?.settle(complete(DONE));
  await settle();
  expect(reply.body).toBe(`: \n\n: \n\ndata: {"jsonrpc":"2.0","id":1,"result":${DONE}}\n\n`);
  expect(reply.ended).toBe(true);
  expect(talk.clock.pending).toBe(0);
});

test("pretty-printed results stand on one line of the stream", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/list", params());
  talk.clock.advance(5_000);
  talk.calls[0]?.settle(complete('{\r\n  "resultType": "complete"\n}'));
  await settle();
  expect(reply.body).toBe(
    ': \n\ndata: {"jsonrpc":"2.0","id":1,"result":{   "resultType": "complete" }}\n\n',
  );
});

test("a client that goes away cancels, and nothing more is written", async () => {
  const talk = startTalk();
  const quiet = talk.post("1", "tools/list", params("", ',"progressToken":1'));
  const streaming = talk.post("2", "tools/list", params("", ',"progressToken":2'));
  talk.calls[1]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
  const before = streaming.body;
  quiet.leave();
  streaming.leave();
  expect(talk.calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  for (const call of talk.calls) {
    call.notices({ method: "notifications/progress", params: '{"progress":2}' });
    call.settle(complete(DONE));
  }
  talk.clock.advance(60_000);
  await settle();
  expect(quiet.status).toBeUndefined();
  expect(streaming).toMatchObject({ body: before, ended: false });
  expect(talk.clock.pending).toBe(0);
});

test("only rising progress goes out, and none without a token or after the answer", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/list", params("", ',"progressToken":"p"'));
  const mute = talk.post("2", "tools/list", params());
  const say = (progress: string): void => {
    for (const { notices } of talk.calls) {
      notices({ method: "notifications/progress", params: `{"progress":${progress},"x":[1.0]}` });
    }
  };
  for (const progress of ["1", "1", "0.5", '"2"', "2.50", "null", "3"]) say(progress);
  for (const call of talk.calls) call.settle(complete(DONE));
  await settle();
  say("4");
  const progress = [...reply.body.matchAll(/"progressToken":"p","progress":([^,]+),"x":\[1.0\]/g)];
  expect(progress.map((match) => match[1])).toEqual(["1", "2.50", "3"]);
  expect(mute).toMatchObject({ streamed: false, status: 200 });
});

test("log messages go out only to a request that asked for their level", async () => {
  const talk = startTalk();
  const level = (name: string) => `,"io.modelcontextprotocol/logLevel":"${name}"`;
  const deaf = talk.post("1", "tools/list", params());
  const picky = talk.post("2", "tools/list", params("", level("error")));
  for (const { notices } of talk.calls) {
    for (const said of ["debug", "error", "emergency", "loud"]) {
      notices({ method: "notifications/message", params: `{"level":"${said}","data":1.0}` });
    }
  }
  for (const call of talk.calls) call.settle(complete(DONE));
  await settle();
  expect(deaf.streamed).toBe(false);
  expect(picky.body.match(/"level":"(\w+)"/g)).toEqual(['"level":"error"', '"level":"emergency"']);
});

test("changes and the other era's notices never stand on a request's stream", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/list", params("", ',"progressToken":1'));
  for (const method of [
    "notifications/tools/list_changed",
    "notifications/resources/updated",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
  ]) {
    talk.calls[0]?.notices({ method, params: "{}" });
  }
  expect(reply.status).toBeUndefined();
  talk.calls[0]?.notices({ method: "acme/happened", params: '{"n":1.0}' });
  expect(reply.body).toBe(
    'data: {"jsonrpc":"2.0","method":"acme/happened","params":{"n":1.0}}\n\n',
  );
});

test("answers are taken out of the params of the three methods that can ask", () => {
  const talk = startTalk();
  const rest = ',"arguments":{"n":9007199254740993}';
  const answers = ',"requestState":"s\\u0000\\ud83d","inputResponses":{"k":{"action":"accept"}}';
  talk.post("1", "prompts/get", params(`${answers},"name":"t"${rest}`), { "mcp-name": "t" });
  expect(talk.calls[0]?.operation).toMatchObject({
    params: params(`,"name":"t"${rest}`),
    answers: {
      continuation: '"s\\u0000\\ud83d"',
      responses: '{"k":{"action":"accept"}}',
    },
  });
  talk.post("2", "prompts/get", params(',"name":"t","inputResponses":{}'), { "mcp-name": "t" });
  expect(talk.calls[1]?.operation.answers).toEqual({ continuation: undefined, responses: "{}" });
  talk.post("3", "prompts/list", params(`${answers},"cursor":"c"`));
  expect(talk.calls[2]?.operation).toMatchObject({
    params: params(',"cursor":"c"'),
    answers: undefined,
  });
});

test.each([
  ',"requestState":7',
  ',"requestState":null',
  ',"inputResponses":null',
  ',"inputResponses":[]',
])("malformed answers %s are refused", (answers) => {
  const talk = startTalk();
  const reply = talk.post("1", "prompts/get", params(`,"name":"t"${answers}`), { "mcp-name": "t" });
  expectError(reply, 400, 1, -32602);
  expect(talk.calls).toEqual([]);
});

test("the caller is the sender with what the envelope says of the client", () => {
  const talk = startTalk();
  const said =
    ',"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.erabridge/session":"own"';
  talk.post("1", "tools/list", params("", said), {
    authorization: "alice",
    "erabridge-session": "header",
  });
  talk.post("2", "tools/list", params(), { authorization: "bob", "erabridge-session": "header" });
  expect(talk.calls.map(({ operation }) => operation.caller)).toEqual([
    {
      principal: "alice",
      anonymous: false,
      identity: '{"name":"c","version":"1"}',
      capabilities: "{}",
      affinity: "own",
      authorization: undefined,
    },
    {
      principal: "bob",
      anonymous: false,
      identity: undefined,
      capabilities: "{}",
      affinity: "header",
      authorization: undefined,
    },
  ]);
});

test("a principal at its limit is refused while others go on", async () => {
  const talk = startTalk({ limits: { maxInFlightPerPrincipal: 2 } });
  const ask = (id: string, authorization: string) =>
    talk.post(id, "tools/list", params(), { authorization });
  ask("1", "alice");
  ask("2", "alice");
  const error = expectError(ask("3", "alice"), 503, 3, -32603);
  expect(error["data"]).toMatchObject({ bridge: { reason: "overloaded" } });
  ask("4", "bob");
  talk.calls[0]?.settle(complete(DONE));
  await settle();
  ask("5", "alice");
  expect(talk.calls).toHaveLength(4);
});

test("notifications are accepted, and unknown ones go to the server", () => {
  const talk = startTalk();
  const post = (text: string) => talk.postText(text, { "mcp-protocol-version": "2026-07-28" });
  for (const method of [
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/roots/list_changed",
    "acme/happened",
  ]) {
    const reply = post(`{"jsonrpc":"2.0","method":"${method}","params":{"requestId":1}}`);
    expect(reply).toMatchObject({ status: 202, body: "", ended: true });
  }
  expect(talk.notified).toMatchObject([
    ["acme/happened", '{"requestId":1}', { capabilities: "{}" }],
  ]);
});

test("equal ids of several clients never meet", async () => {
  const scripted = createScriptedService();
  const talk = startTalk({}, scripted);
  const clients = Array.from({ length: 50 }, (_, n) => `client-${n}`);
  const replies = clients.map((authorization) =>
    talk.postText(requestText("2", "prompts/list", params()), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "prompts/list",
      authorization,
    }),
  );
  for (const { operation, settle: answer } of [...scripted.calls].reverse()) {
    answer(complete(`{"resultType":"complete","who":"${operation.caller.principal}"}`));
  }
  await settle();
  replies.forEach((reply, n) => {
    expect(JSON.parse(reply.body)).toMatchObject({ id: 2, result: { who: clients[n] } });
  });
});
