import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, type Limits } from "../../src/index.js";
import { createModernHttpLink } from "../../src/upstream/modern-http-link.js";
import { createManualClock } from "../support/manual-clock.js";
import {
  createFakeServer,
  createRecorder,
  createRecordingJournal,
  requestText,
  SSE_TYPE,
} from "./fakes.js";

function startLink(limits: Partial<Limits> = {}) {
  const server = createFakeServer();
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const recorder = createRecorder();
  const link = createModernHttpLink({
    url: "http://server.invalid/mcp",
    name: "server",
    exchange: server.exchange,
    headers: () => ({ "x-key": "k" }),
    limits: { ...DEFAULT_LIMITS, ...limits },
    clock,
    journal,
  });
  link.start(recorder);
  const ask = (id = 1, method = "tools/call"): void =>
    link.request({ id, method, text: requestText(id, method), headers: { "mcp-method": method } });
  return { server, clock, journal, link, ask, log: recorder.log };
}

const answer = (id: number, result = "{}"): string =>
  `{"jsonrpc":"2.0","id":${id},"result":${result}}`;

describe("a request", () => {
  test("is one POST with its own headers, for JSON and event streams", () => {
    const { server, ask, log } = startLink();
    ask(7);
    expect(server.call(0)).toMatchObject({
      method: "POST",
      url: "http://server.invalid/mcp",
      headers: {
        "mcp-method": "tools/call",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: requestText(7, "tools/call"),
    });
    server.call(0).answers(200, answer(7, '{"n":1.0}'));
    expect(log).toEqual(['response 7 {"n":1.0} @7']);
  });

  test("is answered on a stream behind its notifications", () => {
    const { server, ask, log } = startLink();
    ask(1);
    server
      .call(0)
      .streams(
        ":\n\n",
        'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n',
        `data: ${answer(1)}\n\n`,
        'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2}}\n\n',
      );
    server.call(0).end();
    expect(log).toEqual(["notification notifications/progress @1", "response 1 {} @1"]);
  });

  test("whose stream stays open behind the answer is not waited for", async () => {
    const { server, ask, clock } = startLink();
    ask(1);
    server.call(0).streams(`data: ${answer(1)}\n\n`);
    expect(server.call(0).aborted).toBe(false);
    await clock.pass(1_000);
    expect(server.call(0).aborted).toBe(true);
  });

  test("is cancelled by closing its answer, and nothing is reported of it", () => {
    const { server, ask, link, log } = startLink();
    ask(1);
    ask(2);
    server.call(0).streams(":\n\n");
    link.cancel(1, "enough");
    expect(server.calls.map((call) => call.aborted)).toEqual([true, false]);
    expect(server.calls).toHaveLength(2);
    expect(log).toEqual([]);
  });

  test("of the server is illegal and dropped", () => {
    const { server, ask, log, journal } = startLink();
    ask(1);
    server
      .call(0)
      .streams(
        'data: {"jsonrpc":"2.0","id":1,"method":"roots/list"}\n\n',
        `data: ${answer(1)}\n\n`,
      );
    expect(log).toEqual(["response 1 {} @1"]);
    expect(journal.lines).toEqual(["warn illegal-request-dropped"]);
  });
});

describe("a refusal", () => {
  test.each([
    [400, '{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"m"}}', "error 1"],
    [404, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}', "error 1"],
    [400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"m"}}', "error 1"],
    [404, "<html>", "lost 1 rejected 404"],
    [401, "", "lost 1 unauthorized 401"],
    [403, "", "lost 1 unauthorized 403"],
    [413, "", "lost 1 rejected 413"],
    [503, "", "lost 1 rejected 503"],
    [202, "", "lost 1 invalid 202"],
    [200, "{}", "lost 1 invalid 200"],
    [200, answer(9), "lost 1 invalid 200"],
    [200, '{"jsonrpc":"2.0","id":1,"res', "lost 1 invalid"],
  ])("with status %s and body %s is %s", (status, body, expected) => {
    const { server, ask, log } = startLink();
    ask(1);
    server.call(0).answers(status, body);
    expect(log).toHaveLength(1);
    expect(log[0]?.startsWith(expected)).toBe(true);
  });
});

describe("an answer that does not come", () => {
  test("may be of a request that was never seen", () => {
    const { server, ask, log } = startLink();
    ask(1);
    server.call(0).fails("refused", "ECONNREFUSED");
    expect(log).toEqual(["lost 1 not-sent: ECONNREFUSED"]);
  });

  test("may be of one that was at work", () => {
    const { server, ask, log } = startLink();
    ask(1);
    server.call(0).fails("broken", "ECONNRESET");
    ask(2);
    server.call(1).streams(":\n\n");
    server.call(1).end();
    ask(3);
    server.call(2).streams(`data: ${answer(9)}\n\n`);
    server.call(2).end();
    expect(log).toEqual([
      "lost 1 broken: ECONNRESET",
      "lost 2 broken: the stream ended before the answer",
      "lost 3 invalid: the answer is for another request",
    ]);
    expect(server.calls).toHaveLength(3);
  });

  test("may be longer than a message may be", () => {
    const { server, ask, log } = startLink({ maxMessageBytes: 100 });
    ask(1);
    server.call(0).head(200);
    server.call(0).data("x".repeat(101));
    ask(2);
    server.call(1).streams(`data: {"jsonrpc":"2.0","id":2,"result":"${"x".repeat(200)}"}\n\n`);
    expect(log).toEqual([
      "lost 1 invalid: the answer is longer than the limit for one message",
      "lost 2 invalid: the answer is longer than the limit for one message",
    ]);
    expect(server.calls.every((call) => call.aborted)).toBe(true);
  });
});

test("a notification is posted with the headers of the era", () => {
  const { server, link } = startLink();
  link.send('{"jsonrpc":"2.0","method":"notifications/acme"}');
  expect(server.call(0).headers).toEqual({
    "x-key": "k",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "notifications/acme",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  server.call(0).head(202, SSE_TYPE);
  expect(server.call(0).aborted).toBe(true);
});

test("the end loses what is open and sends nothing more", async () => {
  const { server, link, ask, log, clock } = startLink();
  ask(1);
  await link.close();
  ask(2);
  link.send('{"jsonrpc":"2.0","method":"notifications/acme"}');
  await Promise.resolve();
  expect(server.calls).toHaveLength(1);
  expect(server.call(0).aborted).toBe(true);
  expect(log).toEqual([
    "lost 1 broken: closed by the bridge",
    "closed: closed by the bridge",
    "lost 2 not-sent: closed by the bridge",
  ]);
  expect(clock.pending).toBe(0);
});
