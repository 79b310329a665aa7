import { expect, test } from "vitest";
import { settle } from "../support/manual-clock.js";
import { complete, createScriptedService } from "../support/scripted-service.js";
import { expectError, params, startTalk } from "./http/modern-conversation.js";

function page(tools: readonly string[], next?: string): string {
  const cursor = next === undefined ? "" : `,"nextCursor":${next}`;
  return `{"resultType":"complete","tools":[${tools.join(",")}]${cursor}}`;
}

const QUERY =
  '{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}';
const PLAIN = '{"name":"plain","inputSchema":{"type":"object"}}';
const BROKEN =
  '{"name":"broken","inputSchema":{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"N"}}}}';
const DONE = '{"resultType":"complete"}';

/** A service whose `tools/list` has the given pages and whose calls succeed. */
function serve(pages: readonly string[]) {
  return createScriptedService(({ method, params: text }) => {
    if (method !== "tools/list") return complete(DONE);
    const { cursor } = JSON.parse(text) as { cursor?: string };
    return complete(pages[cursor === undefined ? 0 : Number(cursor)] ?? page([]));
  });
}

const REGION = (value: string): string => `,"name":"query","arguments":{"region":${value}}`;
const NAMED = { "mcp-name": "query" };

test("a listed tool's headers are checked against the call", async () => {
  const talk = startTalk({}, serve([page([QUERY, PLAIN])]));
  talk.post("1", "tools/list", params());
  await settle();
  const call = (value: string, region?: string) =>
    talk.post("2", "tools/call", params(REGION(value)), { ...NAMED, "mcp-param-region": region });
  expectError(call('"eu"'), 400, 2, -32020);
  expectError(call('"eu"', "us"), 400, 2, -32020);
  expectError(call("null", "eu"), 400, 2, -32020);
  const calls = [call('"eu"', "eu"), call('"eu"', "=?base64?ZXU=?="), call("null")];
  await settle();
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(talk.calls.map(({ operation }) => operation.method)).toEqual([
    "tools/list",
    "tools/call",
    "tools/call",
    "tools/call",
  ]);
  expect(talk.calls[1]?.operation.parameterHeaders).toEqual({ "mcp-param-region": "eu" });
});

test("a tool nobody listed yet is looked up once, on all pages", async () => {
  const talk = startTalk({}, serve([page([PLAIN], '"1"'), page([QUERY])]));
  const replies = ["1", "2"].map((id) =>
    talk.post(id, "tools/call", params(REGION('"eu"')), NAMED),
  );
  await settle();
  expectError(replies[0] ?? talk.http({}), 400, 1, -32020);
  expectError(replies[1] ?? talk.http({}), 400, 2, -32020);
  expect(talk.calls.map(({ operation }) => [operation.method, operation.params])).toEqual([
    ["tools/list", "{}"],
    ["tools/list", '{"cursor":"1"}'],
  ]);
  talk.post("3", "tools/call", params(',"name":"unlisted"'), { "mcp-name": "unlisted" });
  expect(talk.calls.at(-1)?.operation.method).toBe("tools/call");
});

test("a list that could not be read because the server was away is asked for again", async () => {
  let away = true;
  const talk = startTalk(
    {},
    createScriptedService(({ method }) => {
      if (away) {
        return { type: "failed", error: { code: -32603, text: "{}" }, cause: "unavailable" };
      }
      return complete(method === "tools/list" ? page([QUERY]) : DONE);
    }),
  );
  const call = async (id: string) => {
    const reply = talk.post(id, "tools/call", params(REGION('"eu"')), NAMED);
    await settle();
    return reply;
  };
  expect((await call("1")).status).toBe(503);
  away = false;
  expectError(await call("2"), 400, 2, -32020);
});

test("a list that cannot be read leaves calls unchecked and is not asked for again", async () => {
  const talk = startTalk(
    {},
    createScriptedService(({ method }) =>
      method === "tools/list"
        ? { type: "failed", error: { code: -32601, text: "{}" }, cause: "peer" }
        : complete(DONE),
    ),
  );
  for (const id of ["1", "2"]) {
    const reply = talk.post(id, "tools/call", params(REGION('"eu"')), NAMED);
    await settle();
    expect(reply.status).toBe(200);
  }
  expect(talk.calls.map(({ operation }) => operation.method)).toEqual([
    "tools/list",
    "tools/call",
    "tools/call",
  ]);
});

test("a server whose list never ends is read only so far", async () => {
  const circle = createScriptedService(({ method }) =>
    complete(method === "tools/list" ? page([], '"same"') : DONE),
  );
  const talk = startTalk({}, circle);
  talk.post("1", "tools/call", params(REGION('"eu"')), NAMED);
  await settle();
  expect(talk.calls).toHaveLength(3);
  let n = 0;
  const endless = createScriptedService(({ method }) =>
    complete(method === "tools/list" ? page([], `"${n++}"`) : DONE),
  );
  const bounded = startTalk({ limits: { maxPages: 5 } }, endless);
  bounded.post("1", "tools/call", params(REGION('"eu"')), NAMED);
  await settle();
  expect(bounded.calls).toHaveLength(6);
});

test("a new listing replaces what was known, a page of it adds to it", async () => {
  const pages = [page([QUERY])];
  const talk = startTalk({}, serve(pages));
  talk.post("1", "tools/list", params());
  await settle();
  pages[0] = page([PLAIN]);
  talk.post("2", "tools/list", params());
  await settle();
  const reply = talk.post("3", "tools/call", params(REGION('"eu"')), NAMED);
  await settle();
  expect(reply.status).toBe(200);
});

test("broken annotations declare nothing", async () => {
  const talk = startTalk({}, serve([page([BROKEN])]));
  const call = params(',"name":"broken","arguments":{"n":1}');
  const reply = talk.post("1", "tools/call", call, { "mcp-name": "broken" });
  await settle();
  expect(reply.status).toBe(200);
});

test("what one principal's or one client's list shows says nothing about another's", async () => {
  const talk = startTalk(
    {},
    createScriptedService(({ method, caller }) => {
      const annotated = caller.principal === "alice";
      return complete(method === "tools/list" ? page([annotated ? QUERY : PLAIN]) : DONE);
    }),
  );
  const call = (authorization: string) =>
    talk.post("1", "tools/call", params(REGION('"eu"')), { ...NAMED, authorization });
  const replies = [call("alice"), call("bob")];
  await settle();
  expect(replies.map(({ status }) => status)).toEqual([400, 200]);
});

test("a client that left while the list was read does not call the tool", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "tools/call", params(REGION('"eu"')), NAMED);
  reply.leave();
  talk.calls[0]?.settle(complete(page([PLAIN])));
  await settle();
  expect(talk.calls).toHaveLength(1);
  expect(reply.status).toBeUndefined();
});
