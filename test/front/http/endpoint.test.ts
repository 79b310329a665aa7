import { expect, test } from "vitest";
import type { Inbound } from "../../../src/front/http/inbound.js";
import { toPrincipal } from "../../../src/index.js";
import { settle } from "../../support/manual-clock.js";
import { complete } from "../../support/scripted-service.js";
import { ENVELOPE, expectError, params, requestText, startTalk } from "./modern-conversation.js";

const DONE = '{"resultType":"complete"}';

test("an outcome before any notice is one JSON object with the client's id", async () => {
  const talk = startTalk();
  const reply = talk.post('"7"', "prompts/list", params(',"cursor":""'));
  expect(reply.status).toBeUndefined();
  expect(talk.calls[0]?.operation.params).toBe(params(',"cursor":""'));
  talk.calls[0]?.settle(complete('{"resultType":"complete","prompts":[1.0]}'));
  await settle();
  expect(reply).toMatchObject({
    status: 200,
    headers: { "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":"7","result":{"resultType":"complete","prompts":[1.0]}}',
    streamed: false,
  });
  expect(talk.clock.pending).toBe(0);
});

test("progress turns the response into a stream under the client's own token", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "prompts/list", params("", ',"progressToken":"t\\u00e9"'));
  talk.calls[0]?.notices({
    method: "notifications/progress",
    params: '{"progress":1,"total":2.0}',
  });
  expect(reply).toMatchObject({
    status: 200,
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    },
    body: 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\\u00e9","progress":1,"total":2.0}}\n\n',
    ended: false,
  });
  talk.calls[0]?.settle(complete(DONE));
  await settle();
  expect(reply.body).toMatch(
    /\n\ndata: \{"jsonrpc":"2.0","id":1,"result":\{"resultType":"complete"\}\}\n\n$/,
  );
  expect(reply.ended).toBe(true);
  expect(talk.clock.pending).toBe(0);
});

test("session and resumption headers of the other era change nothing and are not echoed", async () => {
  const talk = startTalk({ legacy: () => expect.unreachable() });
  const reply = talk.post("1", "prompts/list", params(), {
    "mcp-session-id": "s",
    "last-event-id": "7",
  });
  talk.calls[0]?.settle(complete(DONE));
  await settle();
  expect(reply.status).toBe(200);
  expect(Object.keys(reply.headers)).toEqual(["content-type"]);
});

test.each(["GET", "DELETE", "PUT", "PATCH", "HEAD"])("%s is not allowed", (method) => {
  const reply = startTalk().http({ method });
  expect(reply).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
});

test.each([
  ["broken JSON", '{"jsonrpc":"2.0",', null, -32700],
  ["an empty body", "", null, -32700],
  ["a string", '"x"', null, -32600],
  ["an empty array", "[]", null, -32600],
  ["no method", '{"jsonrpc":"2.0","id":1}', 1, -32600],
  ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"x"}', null, -32600],
  ["no version", '{"id":"a","method":"x"}', "a", -32600],
  ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', 1, -32602],
  ["a response", '{"jsonrpc":"2.0","id":5,"result":{}}', 5, -32600],
  ["an error", '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""}}', 5, -32600],
  ["a batch", `[${requestText("1", "tools/list", params())}]`, null, -32600],
])("a body with %s is a bad request", (_name, body, id, code) => {
  const talk = startTalk();
  const reply = talk.postText(body, { "mcp-protocol-version": "2026-07-28" });
  expectError(reply, 400, id, code);
  expect(talk.calls).toEqual([]);
});

test("a body beyond the limit is 413 and one that is no UTF-8 is 400", () => {
  const talk = startTalk({ limits: { maxMessageBytes: 5 } });
  const oversized = talk.http({ body: undefined, bodyProblem: "oversized" });
  expect(expectError(oversized, 413, null, -32600)["message"]).toContain("5 bytes");
  expectError(talk.http({ body: undefined, bodyProblem: "not-utf8" }), 400, null, -32700);
});

test.each([
  ["application/json", 200],
  ["application/json; charset=utf-8", 200],
  ["Application/JSON", 200],
  ["", 200],
  [undefined, 200],
  ["text/plain", 415],
  ["application/x-www-form-urlencoded", 415],
  ["multipart/form-data; boundary=x", 415],
])("a body of type %s has status %i", async (type, status) => {
  const talk = startTalk();
  const reply = talk.post("1", "prompts/list", params(), { "content-type": type });
  talk.calls[0]?.settle(complete(DONE));
  await settle();
  expect(reply.status).toBe(status);
});

test.each([undefined, "*/*", "application/json", "text/html"])(
  "what a client accepts (%s) is not held against it",
  async (accept) => {
    const talk = startTalk();
    const reply = talk.post("1", "prompts/list", params(), { accept });
    talk.calls[0]?.settle(complete(DONE));
    await settle();
    expect(reply.status).toBe(200);
  },
);

test("a foreign host or origin is refused before anything else is looked at", () => {
  const talk = startTalk({ authenticator: () => expect.unreachable() });
  for (const headers of [
    { host: "evil.com" },
    { host: "localhost", origin: "https://evil.com" },
    { host: "localhost", origin: "null" },
  ]) {
    const reply = talk.postText("", headers);
    expectError(reply, 403, null, -32600);
    expect(reply.headers).not.toHaveProperty("access-control-allow-origin");
  }
});

test("a preflight names what browsers may send, parameter headers as they are asked for", () => {
  const talk = startTalk({ authenticator: () => expect.unreachable() });
  const reply = talk.http({
    method: "OPTIONS",
    headers: {
      host: "localhost:8080",
      origin: "http://localhost:5173",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, Mcp-Param-Region,mcp-param-a:b, x-evil",
    },
  });
  expect(reply).toMatchObject({ status: 204, body: "" });
  expect(reply.headers).toMatchObject({
    "access-control-allow-origin": "http://localhost:5173",
    "access-control-allow-methods": "POST, OPTIONS",
    vary: "Origin",
  });
  const allowed = (reply.headers["access-control-allow-headers"] ?? "").split(", ");
  expect(allowed).toEqual(
    expect.arrayContaining([
      "authorization",
      "content-type",
      "last-event-id",
      "mcp-method",
      "mcp-name",
      "mcp-param-region",
      "mcp-protocol-version",
      "mcp-session-id",
    ]),
  );
  expect(allowed).not.toContain("x-evil");
  expect(allowed.join()).not.toContain(":");
});

test("pages may read session ids and challenges on answers, errors and streams", async () => {
  const talk = startTalk({
    authenticator: (headers) =>
      headers["authorization"] === undefined
        ? {
            type: "refused",
            status: 401,
            headers: { "www-authenticate": 'Bearer realm="x"' },
            reason: "who is it",
          }
        : { type: "accepted", principal: toPrincipal("p"), anonymous: false },
  });
  const origin = "http://localhost:5173";
  const refused = talk.post("1", "prompts/list", params(), { origin });
  expectError(refused, 401, null, -32600);
  expect(refused.headers["www-authenticate"]).toBe('Bearer realm="x"');
  const broken = talk.postText("{", { origin, authorization: "x" });
  const good = talk.post("1", "prompts/list", params("", ',"progressToken":1'), {
    origin,
    authorization: "x",
  });
  talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
  for (const reply of [refused, broken, good]) {
    expect(reply.headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": expect.stringMatching(/mcp-session-id.*www-authenticate/),
    });
  }
});

test("an authenticator may take its time, and its failure lets nobody in", async () => {
  let answers = 0;
  const talk = startTalk({
    authenticator: async () => {
      answers += 1;
      if (answers === 1) throw new Error("the directory is away");
      return { type: "accepted", principal: toPrincipal("late"), anonymous: false };
    },
  });
  const failed = talk.post("1", "prompts/list", params());
  const accepted = talk.post("2", "prompts/list", params());
  await settle();
  expectError(failed, 503, null, -32600);
  expect(failed.body).not.toContain("directory");
  expect(accepted.status).toBeUndefined();
  expect(talk.calls[0]?.operation.caller.principal).toBe("late");
});

/** A legacy endpoint that keeps what it was given. */
function recordLegacy() {
  const seen: Inbound[] = [];
  const legacy = (inbound: Inbound): void => {
    seen.push(inbound);
    inbound.reply.send(299, {}, "");
  };
  return { seen, legacy };
}

const INITIALIZE = requestText("1", "initialize", '{"protocolVersion":"2025-11-25"}');
const LIST = requestText("1", "tools/list", "{}");

test.each([
  ["initialize", INITIALIZE, {}],
  ["initialize with a modern header", INITIALIZE, { "mcp-protocol-version": "2026-07-28" }],
  ["a request without envelope and header", LIST, {}],
  ["a legacy header", LIST, { "mcp-protocol-version": "2025-06-18" }],
  [
    "a session whose header names this era",
    LIST,
    { "mcp-protocol-version": "2026-07-28", "mcp-session-id": "s" },
  ],
  ["a notification", '{"jsonrpc":"2.0","method":"notifications/initialized"}', {}],
  ["an answer", '{"jsonrpc":"2.0","id":"r-7","result":{}}', {}],
  ["a batch", `[${LIST}]`, {}],
  ["a probe on a session", requestText("1", "server/discover", "{}"), { "mcp-session-id": "s" }],
])("%s goes to the legacy endpoint", (_name, body, headers) => {
  const { seen, legacy } = recordLegacy();
  const talk = startTalk({ legacy });
  expect(talk.postText(body, { ...headers, authorization: "alice" }).status).toBe(299);
  expect(seen).toMatchObject([{ sender: { principal: "alice" }, request: { body } }]);
  expect(seen[0]?.message).toBeDefined();
});

test.each([
  ["an envelope", requestText("1", "x/y", params()), { "mcp-protocol-version": "2025-11-25" }],
  ["half an envelope", requestText("1", "x/y", `{"_meta":{${ENVELOPE.split(",")[1]}}}`), {}],
  ["an envelope with a session", requestText("1", "x/y", params()), { "mcp-session-id": "s" }],
  ["a modern header", LIST, { "mcp-protocol-version": "2026-07-28" }],
  ["a bare probe", requestText("1", "server/discover", "{}"), {}],
  ["a batch with a modern element", `[${LIST},${requestText("2", "x/y", params())}]`, {}],
])("%s never reaches the legacy endpoint", (_name, body, headers) => {
  const { seen, legacy } = recordLegacy();
  const reply = startTalk({ legacy }).postText(body, headers);
  expect(reply.status).toBe(400);
  expect(seen).toEqual([]);
});

test("GET and DELETE go to the legacy endpoint, other methods to none", () => {
  const { seen, legacy } = recordLegacy();
  const talk = startTalk({ legacy });
  expect(talk.http({ method: "GET" }).status).toBe(299);
  expect(talk.http({ method: "DELETE" }).status).toBe(299);
  expect(seen.map(({ message }) => message)).toEqual([undefined, undefined]);
  expect(talk.http({ method: "PUT" })).toMatchObject({
    status: 405,
    headers: { allow: "POST, GET, DELETE, OPTIONS" },
  });
});

test("an endpoint of the legacy era alone hands over everything", () => {
  const { seen, legacy } = recordLegacy();
  const talk = startTalk({ legacy, frontEra: "legacy" });
  talk.post("1", "server/discover", params());
  expect(seen).toHaveLength(1);
});

test("an endpoint of this era alone names its revisions to a client that initializes", () => {
  const { seen, legacy } = recordLegacy();
  const talk = startTalk({ legacy, frontEra: "modern" });
  const error = expectError(talk.postText(INITIALIZE, {}), 400, 1, -32022);
  expect(error["data"]).toEqual({ supported: ["2026-07-28"], requested: "2025-11-25" });
  expect(error["message"]).toContain("2026-07-28");
  expectError(talk.postText(LIST, {}), 400, 1, -32602);
  expect(talk.http({ method: "GET" }).status).toBe(405);
  expect(seen).toEqual([]);
});
