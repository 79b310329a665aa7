import fc from "fast-check";
import { expect, test } from "vitest";
import { expectError, params, startTalk } from "../front/http/modern-conversation.js";
import { settle } from "../support/manual-clock.js";
import { complete, createScriptedService } from "../support/scripted-service.js";

/** A server that lists one tool, mirrors one of its parameters, and counts what it runs. */
function annotated() {
  return createScriptedService(({ method }) =>
    complete(
      method === "tools/list"
        ? '{"tools":[{"name":"run","inputSchema":{"type":"object","properties":{"tenant":{"type":"object","properties":{"id":{"type":"string","x-mcp-header":"Tenant"}}}}}}]}'
        : '{"resultType":"complete"}',
    ),
  );
}

const ran = (talk: ReturnType<typeof startTalk>): number =>
  talk.calls.filter(({ operation }) => operation.method === "tools/call").length;

/** Bodies of a call to `run` for the tenant `b`, or to something else, behind headers that say `run` for `a`. */
test.each([
  ["another name", ',"name":"evil","arguments":{"tenant":{"id":"a"}}'],
  ["a second name", ',"name":"run","name":"evil","arguments":{"tenant":{"id":"a"}}'],
  ["a second name in front", ',"name":"evil","name":"run","arguments":{"tenant":{"id":"a"}}'],
  ["a second, escaped name", ',"n\\u0061me":"evil","name":"run","arguments":{"tenant":{"id":"a"}}'],
  ["no name", ',"arguments":{"tenant":{"id":"a"}}'],
  ["a name that is no string", ',"name":["run"],"arguments":{"tenant":{"id":"a"}}'],
  ["a name that only looks alike", ',"name":"run\\u0000","arguments":{"tenant":{"id":"a"}}'],
  ["another tenant", ',"name":"run","arguments":{"tenant":{"id":"b"}}'],
  ["no tenant", ',"name":"run","arguments":{"tenant":{}}'],
  ["a null tenant", ',"name":"run","arguments":{"tenant":{"id":null}}'],
  ["no arguments", ',"name":"run"'],
  ["a second tenant", ',"name":"run","arguments":{"tenant":{"id":"b","id":"a"}}'],
  ["a second tenant object", ',"name":"run","arguments":{"tenant":{"id":"b"},"tenant":{"id":"a"}}'],
  [
    "second arguments",
    ',"name":"run","arguments":{"tenant":{"id":"b"}},"arguments":{"tenant":{"id":"a"}}',
  ],
  ["a tenant in another case", ',"name":"run","arguments":{"tenant":{"id":"A"}}'],
  ["a tenant with white space", ',"name":"run","arguments":{"tenant":{"id":" a"}}'],
])("a body with %s does not pass under headers that were trusted", async (_name, members) => {
  const talk = startTalk({}, annotated());
  const reply = talk.post("1", "tools/call", params(members), {
    "mcp-name": "run",
    "mcp-param-tenant": "a",
  });
  await settle();
  expectError(reply, 400, 1, -32020);
  expect(ran(talk)).toBe(0);
});

test("the body that was meant passes", async () => {
  const talk = startTalk({}, annotated());
  const meant = params(',"name":"run","arguments":{"tenant":{"id":"a"}}');
  const headers = { "mcp-name": "run", "mcp-param-tenant": "a" };
  const reply = talk.post("1", "tools/call", meant, headers);
  await settle();
  expect(reply.status).toBe(200);
  expect(ran(talk)).toBe(1);
});

test("a method behind another method's header never runs", async () => {
  const talk = startTalk({}, annotated());
  for (const method of [
    "tools/list",
    "TOOLS/CALL",
    "tools/call, tools/list",
    "tools/call\u00a0",
    "",
  ]) {
    const reply = talk.post("1", "tools/call", params(',"name":"run"'), {
      "mcp-method": method,
      "mcp-name": "run",
    });
    await settle();
    expectError(reply, 400, 1, -32020);
  }
  expect(talk.calls).toEqual([]);
});

test("a name passes only under a header that decodes to it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (name, header) => {
      const talk = startTalk();
      const reply = talk.post("1", "prompts/get", params(`,"name":${JSON.stringify(name)}`), {
        "mcp-name": header,
      });
      const stripped = header.replace(/^[\t ]+/, "").replace(/[\t ]+$/, "");
      if (stripped === name && /^[\t\x20-\x7e]*$/.test(name)) expect(talk.calls).toHaveLength(1);
      else expectError(reply, 400, 1, -32020);
    }),
  );
});

test("a modern body is never handed to the other era by its headers", () => {
  for (const headers of [
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-protocol-version": undefined, "mcp-session-id": "s" },
    { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "s", "last-event-id": "1" },
  ]) {
    const talk = startTalk({ legacy: () => expect.unreachable() });
    expectError(talk.post("1", "tools/list", params(), headers), 400, 1, -32020);
    expect(talk.calls).toEqual([]);
  }
});
