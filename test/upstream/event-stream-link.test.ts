import { describe, expect, it } from "vitest";
import { type BridgeError, DEFAULT_LIMITS } from "../../src/index.js";
import { openEventStreamLink } from "../../src/upstream/event-stream-link.js";
import type { Link } from "../../src/upstream/link.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import {
  createFakeServer,
  createRecorder,
  createRecordingJournal,
  requestText,
  SSE_TYPE,
} from "./fakes.js";

const STREAM = "http://server.test:8000/sse";

function setUp() {
  const server = createFakeServer();
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const recorder = createRecorder();
  const opening = openEventStreamLink({
    url: STREAM,
    name: "server",
    exchange: server.exchange,
    headers: () => ({ authorization: "Bearer secret" }),
    limits: DEFAULT_LIMITS,
    clock,
    journal,
  });
  const open = async (endpoint = "/messages?session=9"): Promise<Link> => {
    server.call(0).streams(`event: endpoint\ndata: ${endpoint}\n\n`);
    const link = await opening;
    link.start(recorder);
    return link;
  };
  const says = (text: string): void => server.call(0).data(`event: message\ndata: ${text}\n\n`);
  return { server, clock, journal, opening, open, says, log: recorder.log };
}

function ask(link: Link, ...ids: readonly number[]): void {
  for (const id of ids) {
    link.request({ id, method: "tools/call", text: requestText(id, "tools/call") });
  }
}

async function failureOf(opening: Promise<Link>): Promise<string> {
  const error: BridgeError = await opening.then(
    () => expect.fail("it opened"),
    (reason) => reason,
  );
  return `${error.code}: ${error.message}`;
}

describe("a link over HTTP+SSE", () => {
  it.each([
    ["/messages?session=9", "http://server.test:8000/messages?session=9"],
    ["messages", "http://server.test:8000/messages"],
    ["http://server.test:8000/m/9", "http://server.test:8000/m/9"],
  ])("posts to the endpoint %s and reads answers from the stream", async (endpoint, url) => {
    const { server, open, says, log } = setUp();
    const link = await open(endpoint);
    ask(link, 1);
    const { method, headers, body } = server.call(1);
    expect(server.call(1).url).toBe(url);
    expect({ method, headers, body }).toEqual({
      method: "POST",
      headers: {
        authorization: "Bearer secret",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    });
    server.call(1).answers(202, "Accepted", { "content-type": "text/plain" });
    says('{"jsonrpc":"2.0","id":"q","method":"roots/list"}');
    says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(['request "q" roots/list', "response 1 {}"]);
    expect(link.associates).toBe(false);
    expect(link.listens).toBe(true);
  });

  it.each([
    "http://evil.test/messages",
    "https://server.test:8000/messages",
    "http://server.test:9000/messages",
    "//evil.test/messages",
    "http://[",
  ])("refuses the endpoint %s", async (endpoint) => {
    const { server, clock, opening } = setUp();
    server.call(0).streams(`event: endpoint\ndata: ${endpoint}\n\n`);
    expect(await failureOf(opening)).toBe(
      "upstream-unavailable: server: the endpoint of the event stream is of another origin",
    );
    expect(server.call(0).aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it.each([
    [404, "upstream-unavailable: server: no event stream, HTTP status 404"],
    [401, "upstream-unauthorized: server refused the credentials"],
  ])("does not open on status %i", async (status, expected) => {
    const { server, opening } = setUp();
    server.call(0).answers(status);
    expect(await failureOf(opening)).toBe(expected);
  });

  it("does not open when no endpoint comes in time, or the stream ends before it", async () => {
    const slow = setUp();
    slow.server.call(0).streams(": nothing\n\n");
    slow.clock.advance(60_000);
    expect(await failureOf(slow.opening)).toBe(
      "upstream-unavailable: server: the event stream names no endpoint",
    );
    const short = setUp();
    short.server.call(0).head(200, SSE_TYPE);
    short.server.call(0).end();
    expect(await failureOf(short.opening)).toBe(
      "upstream-unavailable: server: the event stream ended",
    );
  });

  it("keeps what comes before anyone listens", async () => {
    const { server, opening, says } = setUp();
    server.call(0).streams("event: endpoint\ndata: /m\n\n");
    says('{"jsonrpc":"2.0","method":"notifications/message","params":{}}');
    const link = await opening;
    const recorder = createRecorder();
    link.start(recorder);
    expect(recorder.log).toEqual(["notification notifications/message"]);
  });

  it("loses everything with the stream", async () => {
    const { server, open, log } = setUp();
    const link = await open();
    ask(link, 1, 2);
    server.call(1).answers(202);
    server.call(0).end();
    expect(log).toEqual([
      "lost 1 broken: the event stream ended",
      "lost 2 broken: the event stream ended",
      "closed: the event stream ended",
    ]);
    expect(server.call(2).aborted).toBe(true);
    ask(link, 3);
    await settle();
    expect(log[3]).toBe("lost 3 not-sent: the event stream ended");
  });

  it.each([
    [404, "Could not find session", "session-gone 404"],
    [400, "No transport found for sessionId", "session-gone 400"],
    [401, "", "unauthorized 401"],
    [413, "", "rejected 413"],
    [500, "", "rejected 500"],
  ])("fails the request that is refused with %i %s, and no other", async (status, body, kind) => {
    const { server, open, says, log } = setUp();
    const link = await open();
    ask(link, 1, 2);
    server.call(1).answers(status, body);
    says('{"jsonrpc":"2.0","id":2,"result":{}}');
    expect(log).toEqual([expect.stringContaining(`lost 1 ${kind}: `), "response 2 {}"]);
  });

  it("tells what was not sent from what may have been done", async () => {
    const { server, open, log } = setUp();
    const link = await open();
    ask(link, 1, 2);
    server.call(1).fails("refused", "connection refused");
    server.call(2).fails("broken", "reset");
    expect(log).toEqual(["lost 1 not-sent: connection refused", "lost 2 broken: reset"]);
  });

  it("takes an answer in the body of the POST, once", async () => {
    const { server, open, says, log } = setUp();
    const link = await open();
    ask(link, 1);
    server.call(1).answers(200, '{"jsonrpc":"2.0","id":1,"result":{}}');
    says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["response 1 {}"]);
  });

  it("sends the negotiated revision, cancels by notification, and ends by closing the stream", async () => {
    const { server, clock, open, log } = setUp();
    const link = await open();
    await link.established("2024-11-05");
    ask(link, 1);
    link.cancel(1, "enough");
    expect(server.call(2).headers["mcp-protocol-version"]).toBe("2024-11-05");
    expect(server.call(2).body).toBe(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}',
    );
    await link.close();
    expect(server.calls.every((call) => call.aborted)).toBe(true);
    expect(log).toEqual(["closed: closed by the bridge"]);
    expect(clock.pending).toBe(0);
  });
});
