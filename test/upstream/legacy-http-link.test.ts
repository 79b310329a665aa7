import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS, type HttpHeaders } from "../../src/index.js";
import { createLegacyHttpLink } from "../../src/upstream/legacy-http-link.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import {
  createFakeServer,
  createRecorder,
  createRecordingJournal,
  requestText,
  SSE_TYPE,
} from "./fakes.js";

const URL = "http://server.test/mcp";

function setUp(headers: HttpHeaders = {}) {
  const server = createFakeServer();
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const recorder = createRecorder();
  const link = createLegacyHttpLink({
    url: URL,
    name: "server",
    exchange: server.exchange,
    headers: () => headers,
    limits: { ...DEFAULT_LIMITS, maxMessageBytes: 1_000 },
    clock,
    journal,
  });
  link.start(recorder);
  const ask = (id: number, method = "tools/call"): void => {
    link.request({ id, method, text: requestText(id, method) });
  };
  /** `initialize` answered with a session, at revision 2025-06-18. */
  const handshake = (sessionId: string | null = "s-1"): void => {
    ask(1, "initialize");
    const assigned = sessionId === null ? {} : { "mcp-session-id": sessionId };
    server
      .call(0)
      .answers(200, '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}', {
        "content-type": "application/json",
        ...assigned,
      });
  };
  /** The handshake, and a listening stream that stands. */
  const establish = async (): Promise<void> => {
    handshake();
    const established = link.established("2025-06-18");
    await settle();
    server.call(-1).streams();
    await established;
  };
  return { server, clock, journal, link, ask, handshake, establish, log: recorder.log };
}

function event(id: string | undefined, data: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}';
const result = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;

describe("what a link over Streamable HTTP sends", () => {
  it("posts initialize without a session or a revision, whatever is configured", () => {
    const { server, ask } = setUp({
      authorization: "Bearer secret",
      accept: "text/html",
      origin: "http://evil.test",
      "mcp-session-id": "configured",
      "mcp-protocol-version": "2099-01-01",
      "mcp-method": "tools/call",
    });
    ask(1, "initialize");
    const { method, url, headers, body } = server.call(0);
    expect({ method, url, headers, body }).toEqual({
      method: "POST",
      url: URL,
      headers: {
        authorization: "Bearer secret",
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    });
  });

  it("repeats the session id and the negotiated revision on everything that follows", async () => {
    const { server, link, ask, handshake } = setUp({ "mcp-protocol-version": "2099-01-01" });
    handshake();
    link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    const established = link.established("2025-06-18");
    server.call(1).answers(202);
    await settle();
    server.call(2).streams();
    await established;
    ask(2);
    server.call(3).answers(200, result(2));
    const closed = link.close();
    await settle();
    expect(server.calls.map(({ method }) => method)).toEqual([
      "POST",
      "POST",
      "GET",
      "POST",
      "DELETE",
    ]);
    for (const call of server.calls.slice(1)) {
      expect(call.headers).toMatchObject({
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-06-18",
      });
    }
    expect(server.call(2).headers["accept"]).toBe("text/event-stream");
    server.call(4).answers(200);
    await closed;
  });

  it("sends no session id where the server assigned none, or one that no header may carry", () => {
    for (const assigned of [null, "with space", "ünïcode"]) {
      const { server, ask, handshake } = setUp();
      handshake(assigned);
      ask(2);
      expect(server.call(1).headers).not.toHaveProperty("mcp-session-id");
    }
  });
});

describe("how a link over Streamable HTTP reads answers", () => {
  it("takes a JSON answer", () => {
    const { server, ask, log } = setUp();
    ask(7);
    server.call(0).answers(200, '{"jsonrpc":"2.0","id":7,"result":{"n":1.0}}');
    expect(log).toEqual(['response 7 {"n":1.0} @7']);
  });

  it("takes a JSON answer in pieces that cut a character", () => {
    const { server, ask, log } = setUp();
    ask(7);
    const call = server.call(0);
    call.head(200, { "content-type": "application/json" });
    call.bytes([0x7b, 0x22, 0x6a]);
    call.data('sonrpc":"2.0","id":7,"result":{"t":"');
    call.bytes([0xf0, 0x9f]);
    call.bytes([0x9a, 0x80]);
    call.data('"}}');
    call.end();
    expect(log).toEqual(['response 7 {"t":"\u{1F680}"} @7']);
  });

  it("takes what comes on the answer's own stream with the request as origin", () => {
    const { server, ask, log } = setUp();
    ask(7);
    server
      .call(0)
      .streams(
        "event: ping\ndata: keep alive\n\n",
        ": comment\n\n",
        "id: 1\ndata:\n\n",
        event("2", progress),
        event("3", '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}'),
        event("4", result(7)),
      );
    server.call(0).end();
    expect(log).toEqual([
      "notification notifications/progress @7",
      'request "q" elicitation/create @7',
      "response 7 {} @7",
    ]);
    expect(server.calls).toHaveLength(1);
  });

  it("takes an array for its messages", () => {
    const { server, ask, log } = setUp();
    ask(7);
    server.call(0).answers(200, `[${progress},${result(7)}]`);
    expect(log).toEqual(["notification notifications/progress @7", "response 7 {} @7"]);
  });

  it("delivers a JSON-RPC error whatever the status, also one without an id", () => {
    const { server, ask, log } = setUp();
    ask(7);
    server.call(0).answers(400, '{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"m"}}');
    ask(8);
    server
      .call(1)
      .answers(400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}');
    ask(9);
    server
      .call(2)
      .answers(200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m"}}');
    expect(log).toEqual([
      'error 7 {"code":-32602,"message":"m"} @7',
      'error 8 {"code":-32700,"message":"m"} @8',
      'error 9 {"code":-32601,"message":"m"} @9',
    ]);
  });

  it.each([
    ["an empty object", "{}"],
    ["nothing", ""],
    ["a page", "<html></html>"],
    ["another id only", '{"jsonrpc":"2.0","id":99,"result":{}}'],
    ["a notification only", progress],
    ["a cut", '{"jsonrpc":"2.0","id":7,"result":{"a'],
    ["more than the limit", `{"jsonrpc":"2.0","id":7,"result":{"a":"${"a".repeat(1_000)}"}}`],
  ])("fails a request at once whose answer is %s", (_, body) => {
    const { server, ask, log } = setUp();
    ask(7);
    server.call(0).answers(200, body);
    expect(log.filter((line) => line.startsWith("lost"))).toEqual([
      expect.stringMatching(/^lost 7 invalid/),
    ]);
  });

  it.each([
    ["ends without an event", [], undefined],
    ["breaks after a notification", [event(undefined, progress)], "broken" as const],
  ])("fails a request whose stream %s", (_, events, failure) => {
    const { server, ask, log } = setUp();
    ask(7);
    server.call(0).streams(...events);
    if (failure === undefined) server.call(0).end();
    else server.call(0).fails(failure);
    expect(log.at(-1)).toMatch(/^lost 7 broken: /);
    expect(server.calls).toHaveLength(1);
  });

  it("fails a request whose stream ends after an event that is no JSON", () => {
    const { server, ask, log } = setUp();
    ask(7);
    server.call(0).streams(event(undefined, "{oops"));
    server.call(0).end();
    expect(log).toEqual([expect.stringMatching(/^lost 7 invalid/)]);
  });

  it("tells what the server cannot have seen from what it may have done", () => {
    const { server, ask, log } = setUp();
    ask(7);
    ask(8);
    ask(9);
    server.call(0).fails("refused", "connection refused");
    server.call(1).fails("broken", "socket hang up");
    server.call(2).head(200, { "content-type": "application/json" });
    server.call(2).fails("broken", "cut");
    expect(log).toEqual([
      "lost 7 not-sent: connection refused",
      "lost 8 broken: socket hang up",
      "lost 9 broken: cut",
    ]);
  });

  it.each([
    [404, "", "session-gone 404"],
    [
      404,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
      "session-gone 404",
    ],
    [401, "", "unauthorized 401"],
    [403, "", "unauthorized 403"],
    [413, "", "rejected 413"],
    [503, "<html>", "rejected 503"],
  ])("%i %s after the handshake is %s", (status, body, expected) => {
    const { server, ask, handshake, log } = setUp();
    handshake();
    ask(7);
    server.call(1).answers(status, body);
    expect(log.slice(1)).toEqual([expect.stringContaining(`lost 7 ${expected}: `)]);
  });

  it("takes a lost session told with success status, and other errors for what they are", () => {
    const { server, ask, handshake, log } = setUp();
    handshake();
    ask(7);
    server
      .call(1)
      .answers(
        200,
        '{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"Session not found"}}',
      );
    ask(8);
    server.call(2).answers(404, '{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"m"}}');
    expect(log.slice(1)).toEqual([
      "lost 7 session-gone: the server does not know the session",
      'error 8 {"code":-32601,"message":"m"} @8',
    ]);
  });

  it("cuts a stream that stays open after the answer", () => {
    const { server, clock, ask } = setUp();
    ask(7);
    server.call(0).streams(event(undefined, result(7)));
    clock.advance(900);
    expect(server.call(0).aborted).toBe(false);
    server.call(0).data(": still here\n\n");
    clock.advance(100);
    expect(server.call(0).aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

describe("how a link over Streamable HTTP resumes an answer", () => {
  it("asks again by GET after the server's retry, with the last event id, never by POST", () => {
    const { server, clock, ask, handshake, log } = setUp();
    handshake();
    ask(7);
    server.call(1).streams("id: a-1\nretry: 500\ndata:\n\n");
    server.call(1).end();
    clock.advance(499);
    expect(server.calls).toHaveLength(2);
    clock.advance(1);
    expect(server.call(2).method).toBe("GET");
    expect(server.call(2).headers).toMatchObject({
      "last-event-id": "a-1",
      "mcp-session-id": "s-1",
      "mcp-protocol-version": "2025-06-18",
      accept: "text/event-stream",
    });
    server.call(2).streams(event("a-2", progress), event("a-3", result(7)));
    server.call(2).end();
    expect(log.slice(1)).toEqual(["notification notifications/progress @7", "response 7 {} @7"]);
    expect(clock.pending).toBe(0);
  });

  it("goes on from the last event of the resumed stream, as often as events come", () => {
    const { server, clock, ask, log } = setUp();
    ask(7);
    server.call(0).streams("retry: 100\n", event("0", progress));
    server.call(0).fails("broken");
    for (let poll = 1; poll <= 20; poll++) {
      clock.advance(100);
      expect(server.call(poll).headers["last-event-id"]).toBe(String(poll - 1));
      server.call(poll).streams(`id: ${poll}\ndata:\n\n`);
      server.call(poll).end();
    }
    clock.advance(100);
    server.call(21).streams(event("x", result(7)));
    expect(log.at(-1)).toBe("response 7 {} @7");
  });

  it("does not ask all the time, whatever the server wishes", () => {
    const { server, clock, ask } = setUp();
    ask(7);
    server.call(0).streams("retry: 0\nid: 1\ndata:\n\n");
    server.call(0).end();
    clock.advance(99);
    expect(server.calls).toHaveLength(1);
    clock.advance(1);
    expect(server.calls).toHaveLength(2);
  });

  it("backs off, and gives up when nothing comes", () => {
    const { server, clock, ask, log } = setUp();
    ask(7);
    server.call(0).streams(event("1", progress));
    server.call(0).fails("broken");
    for (const [attempt, pause] of [1_000, 2_000, 4_000, 8_000, 16_000].entries()) {
      clock.advance(pause - 1);
      expect(server.calls).toHaveLength(attempt + 1);
      clock.advance(1);
      server.call(attempt + 1).fails("refused", "connection refused");
    }
    expect(log.at(-1)).toBe("lost 7 broken: connection refused");
    expect(clock.pending).toBe(0);
  });

  it("waits out an outage in between", () => {
    const { server, clock, ask, log } = setUp();
    ask(7);
    server.call(0).streams(event("1", progress));
    server.call(0).fails("broken");
    clock.advance(1_000);
    server.call(1).answers(503);
    clock.advance(2_000);
    server.call(2).streams(event("2", result(7)));
    expect(log.at(-1)).toBe("response 7 {} @7");
  });

  it.each([400, 404, 405])(
    "fails the request when the server refuses with %i, and no session is lost",
    (status) => {
      const { server, clock, ask, handshake, log } = setUp();
      handshake();
      ask(7);
      server.call(1).streams(event("1", progress));
      server.call(1).end();
      clock.advance(1_000);
      server.call(2).answers(status, "session not found");
      expect(log.at(-1)).toMatch(/^lost 7 broken: /);
      expect(server.calls).toHaveLength(3);
    },
  );

  it("does not resume an answer nobody waits for", () => {
    const { server, clock, link, ask, log } = setUp();
    ask(7);
    server.call(0).streams(event("1", progress));
    link.cancel(7, "enough");
    server.call(0).end();
    server.call(1).answers(202);
    clock.advance(60_000);
    expect(server.calls).toHaveLength(2);
    expect(log).toEqual(["notification notifications/progress @7"]);
  });
});

describe("the stream for messages outside requests", () => {
  it("is opened once the server has taken what was sent before", async () => {
    const { server, link, handshake, log } = setUp();
    handshake();
    expect(link.listens).toBe(false);
    link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    const established = link.established("2025-06-18");
    await settle();
    expect(server.calls).toHaveLength(2);
    server.call(1).answers(202);
    await settle();
    expect(server.call(2).method).toBe("GET");
    server.call(2).streams();
    await established;
    expect(link.listens).toBe(true);
    server.call(2).data(event("1", '{"jsonrpc":"2.0","id":3,"method":"roots/list"}'));
    expect(log.at(-1)).toBe("request 3 roots/list");
  });

  it.each([400, 404, 405, 409, 501])("may be refused with %i", async (status) => {
    const { server, clock, link, handshake, ask, log } = setUp();
    handshake();
    const established = link.established("2025-06-18");
    await settle();
    server.call(1).answers(status);
    await established;
    expect(link.listens).toBe(false);
    clock.advance(120_000);
    expect(server.calls).toHaveLength(2);
    ask(2);
    server.call(2).answers(200, result(2));
    expect(log.at(-1)).toBe("response 2 {} @2");
    expect(clock.pending).toBe(0);
  });

  it("may be a success that is no stream", async () => {
    const { server, link, handshake } = setUp();
    handshake();
    const established = link.established("2025-06-18");
    await settle();
    server.call(1).answers(200, "<html></html>", { "content-type": "text/html" });
    await established;
    expect(link.listens).toBe(false);
  });

  it("holds the first requests back for no more than a second", async () => {
    const { server, clock, link, handshake } = setUp();
    handshake();
    const established = link.established("2025-06-18");
    await clock.pass(1_000);
    await established;
    expect(link.listens).toBe(false);
    server.call(1).streams();
    expect(link.listens).toBe(true);
  });

  it("is taken up again quietly, with the last event id and longer and longer pauses", async () => {
    const { server, clock, journal, link, establish, log } = setUp();
    await establish();
    server.call(1).data(event("g-1", progress));
    server.call(1).end();
    for (const [attempt, pause] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      clock.advance(pause - 1);
      expect(server.calls).toHaveLength(attempt + 2);
      clock.advance(1);
      expect(server.call(-1).headers["last-event-id"]).toBe("g-1");
      server.call(-1).fails("refused");
      expect(link.listens).toBe(true);
    }
    clock.advance(30_000);
    server.call(-1).streams(event("g-2", progress));
    server.call(-1).end();
    clock.advance(1_000);
    expect(server.call(-1).headers["last-event-id"]).toBe("g-2");
    expect(log.slice(1)).toEqual([
      "notification notifications/progress",
      "notification notifications/progress",
    ]);
    expect(journal.lines.filter((line) => !line.startsWith("debug"))).toEqual([]);
  });

  it("carries the answer to a request that was only accepted", async () => {
    const { server, ask, establish, log } = setUp();
    await establish();
    ask(2);
    server.call(2).answers(202);
    server.call(1).data(event(undefined, result(2)));
    expect(log.at(-1)).toBe("response 2 {}");
  });

  it("is what an accepted request needs", () => {
    const { server, ask, log } = setUp();
    ask(2);
    server.call(0).answers(202);
    expect(log).toEqual(["lost 2 invalid 202: the request was accepted and not answered"]);
  });

  it("asks for the session when it is refused later, and ends the conversation when that is gone", async () => {
    const { server, clock, ask, establish, log } = setUp();
    await establish();
    ask(2);
    server.call(1).end();
    clock.advance(1_000);
    server.call(3).answers(404);
    expect(server.call(4).body).toMatch(/^\{"jsonrpc":"2\.0","id":\d+,"method":"ping"\}$/);
    server.call(4).answers(404);
    expect(log.slice(1)).toEqual([
      expect.stringMatching(/^lost 2 broken/),
      "closed: the server does not know the session",
    ]);
    expect(clock.pending).toBe(0);
  });

  it("may be refused later while the session lives on", async () => {
    const { server, clock, link, ask, establish, log } = setUp();
    await establish();
    server.call(1).end();
    clock.advance(1_000);
    server.call(2).answers(404);
    server.call(3).answers(200, '{"jsonrpc":"2.0","id":2147483646,"result":{}}');
    expect(link.listens).toBe(false);
    ask(2);
    server.call(4).answers(200, result(2));
    expect(log.slice(1)).toEqual(["response 2 {} @2"]);
  });
});

describe("how a link over Streamable HTTP lets go", () => {
  it("tells the server of a cancellation and drops the late answer", () => {
    const { server, clock, link, ask, log } = setUp();
    ask(7);
    server.call(0).streams();
    link.cancel(7, "enough");
    link.cancel(7, "again");
    expect(server.calls).toHaveLength(2);
    expect(server.call(1).body).toBe(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}',
    );
    server.call(1).answers(202);
    server.call(0).data(event(undefined, result(7)));
    clock.advance(1_000);
    expect(server.call(0).aborted).toBe(true);
    expect(log).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("ends the session of a handshake that nobody waits for any more", async () => {
    const { server, link, ask } = setUp();
    ask(1, "initialize");
    link.cancel(1, "the client has gone");
    const closing = link.close();
    expect(server.call(0).aborted).toBe(false);
    server.call(0).answers(200, result(1), { "mcp-session-id": "s-1" });
    await settle();
    expect(server.call(1)).toMatchObject({
      method: "DELETE",
      headers: { "mcp-session-id": "s-1" },
    });
    server.call(1).answers(204);
    await closing;
  });

  it("waits for the answer to such a handshake no longer than a second", async () => {
    const { server, clock, link, ask } = setUp();
    ask(1, "initialize");
    const closing = link.close();
    clock.advance(1_000);
    await closing;
    expect(server.call(0).aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it("cancels in the client's own words where it has some", () => {
    const { server, link, ask, handshake } = setUp();
    handshake();
    ask(7);
    const words =
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"k":1.0}}';
    link.cancel(7, "enough", words);
    expect(server.call(-1).body).toBe(words);
  });

  it("never sends a cancellation of initialize", () => {
    const { server, clock, link, ask } = setUp();
    ask(1, "initialize");
    link.cancel(1, "too slow");
    clock.advance(1_000);
    expect(server.calls).toHaveLength(1);
    expect(server.call(0).aborted).toBe(true);
  });

  it("ends the session with DELETE and reports the end last", async () => {
    const { server, clock, link, ask, establish, log } = setUp();
    await establish();
    ask(2);
    const closed = link.close();
    await settle();
    expect(server.call(1).aborted).toBe(true);
    expect(server.call(2).aborted).toBe(true);
    expect(server.call(3).method).toBe("DELETE");
    expect(log.at(-1)).toMatch(/^lost 2 broken/);
    server.call(3).answers(405);
    await closed;
    expect(log.at(-1)).toBe("closed: closed by the bridge");
    ask(3);
    await settle();
    expect(log.at(-1)).toBe("lost 3 not-sent: closed by the bridge");
    expect(server.calls).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  it("does not wait for ever for the server's farewell", async () => {
    const { server, clock, link, handshake } = setUp();
    handshake();
    const closed = link.close();
    await clock.pass(2_000);
    await closed;
    expect(server.call(1).aborted).toBe(true);
  });

  it("sends no DELETE where there is no session", async () => {
    const { server, link, handshake } = setUp();
    handshake(null);
    await link.close();
    expect(server.calls).toHaveLength(1);
  });

  it("delivers what was sent before it says farewell", async () => {
    const { server, link, handshake } = setUp();
    handshake();
    link.send('{"jsonrpc":"2.0","id":"q","result":{}}');
    const closed = link.close();
    await settle();
    expect(server.calls).toHaveLength(2);
    server.call(1).answers(202);
    await settle();
    server.call(2).answers(204);
    await closed;
    expect(server.call(2).method).toBe("DELETE");
  });
});

describe("notifications and answers of a link over Streamable HTTP", () => {
  it("leave a line in the journal when they are not taken", () => {
    const { server, journal, link, handshake, log } = setUp();
    handshake();
    const before = journal.lines.length;
    link.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}');
    server.call(1).answers(404);
    link.send('{"jsonrpc":"2.0","id":"q","result":{}}');
    server.call(2).fails("refused");
    expect(journal.lines.slice(before)).toEqual([
      "warn message-refused",
      "warn message-not-delivered",
    ]);
    expect(log).toHaveLength(1);
  });

  it("may be answered with a stream of messages", () => {
    const { server, link, log } = setUp();
    link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    server.call(0).head(200, SSE_TYPE);
    server.call(0).data(event(undefined, '{"jsonrpc":"2.0","id":1,"method":"roots/list"}'));
    server.call(0).end();
    expect(log).toEqual(["request 1 roots/list"]);
  });
});
