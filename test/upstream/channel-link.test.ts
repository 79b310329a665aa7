import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/index.js";
import { createChannelLink } from "../../src/upstream/channel-link.js";
import { settle } from "../support/manual-clock.js";
import { createFakeChannel, createRecorder, createRecordingJournal, requestText } from "./fakes.js";

function setUp() {
  const channel = createFakeChannel();
  const journal = createRecordingJournal();
  const recorder = createRecorder();
  const link = createChannelLink({ channel, name: "server", journal, limits: DEFAULT_LIMITS });
  link.start(recorder);
  const ask = (...ids: readonly number[]): void => {
    for (const id of ids) {
      link.request({ id, method: "tools/call", text: requestText(id, "tools/call") });
    }
  };
  return { channel, journal, link, ask, log: recorder.log };
}

describe("a link over a channel", () => {
  it("carries requests, answers, notifications and reverse requests", () => {
    const { channel, ask, log } = setUp();
    ask(1);
    channel.says(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
      '{"jsonrpc":"2.0","id":"s-1","method":"roots/list"}',
      '{"jsonrpc":"2.0","id":1,"result":{"n":1.0}}',
    );
    expect(channel.sent).toEqual(['{"jsonrpc":"2.0","id":1,"method":"tools/call"}']);
    expect(log).toEqual([
      "notification notifications/progress",
      'request "s-1" roots/list',
      'response 1 {"n":1.0}',
    ]);
  });

  it("sends no more requests to a server that does not read", async () => {
    const { channel, ask, log } = setUp();
    channel.backlog = DEFAULT_LIMITS.maxBacklogBytes;
    ask(1);
    channel.backlog += 1;
    ask(2);
    await settle();
    expect(channel.sent).toEqual([requestText(1, "tools/call")]);
    expect(log).toEqual(["lost 2 not-sent: it does not read what it is sent"]);
    channel.backlog = 0;
    ask(3);
    expect(channel.sent).toHaveLength(2);
  });

  it("takes no requests from a server that does not read their answers", () => {
    const { channel, log } = setUp();
    channel.backlog = DEFAULT_LIMITS.maxBacklogBytes + 1;
    channel.says('{"jsonrpc":"2.0","id":"s-1","method":"ping"}');
    expect(log).toEqual([]);
    channel.backlog = 0;
    channel.says('{"jsonrpc":"2.0","id":"s-2","method":"ping"}');
    expect(log).toEqual(['request "s-2" ping']);
  });

  it("splits an array into its messages", () => {
    const { channel, ask, log } = setUp();
    ask(1, 2);
    channel.says(
      '[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}]',
    );
    expect(log).toEqual(["response 2 {}", 'error 1 {"code":-32602,"message":"no"}']);
  });

  it("skips what is no message, with one warning", () => {
    const { channel, journal, ask, log } = setUp();
    ask(1);
    channel.says(
      "\u{1F680} Server is up",
      "\u001b[32mready\u001b[0m",
      "123",
      "null",
      '"x"',
      "[]",
      "[1,2]",
      '{"level":"info","id":1,"msg":"listening"}',
      "=".repeat(60),
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    );
    expect(log).toEqual(["response 1 {}"]);
    expect(journal.lines.filter((line) => line.startsWith("warn"))).toEqual(["warn text-skipped"]);
  });

  it.each([
    'Starting… {"jsonrpc":"2.0","id":1,"result":{}}',
    '[INFO] up {"jsonrpc":"2.0","id":1,"result":{}}',
    '\u001b[1mhello\u001b[0m{ "result":{},"jsonrpc":"2.0","id":1}',
    '\ufeff{"jsonrpc":"2.0","id":1,"result":{}}',
  ])("reads the message behind a banner on its line: %s", (line) => {
    const { channel, ask, log } = setUp();
    ask(1);
    channel.says(line);
    expect(log).toEqual(["response 1 {}"]);
  });

  it.each([
    ["a string", '{"jsonrpc":"2.0","id":"7","result":{}}', "response 7 {}"],
    ["a decimal", '{"jsonrpc":"2.0","id":7.0,"result":{}}', "response 7 {}"],
    ["null on a result", '{"jsonrpc":"2.0","id":null,"result":{}}', "response 7 {}"],
    ["nothing on a result", '{"jsonrpc":"2.0","result":{}}', "response 7 {}"],
    ["zero", '{"jsonrpc":"2.0","id":0,"result":{}}', "response 7 {}"],
    [
      "null on an error",
      '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
      'error 7 {"code":1,"message":"m"}',
    ],
  ])("understands a peer that writes the id of the only open request as %s", (_, text, line) => {
    const { channel, ask, log } = setUp();
    ask(7);
    channel.says(text);
    expect(log).toEqual([line]);
  });

  it("drops an answer without an id while several requests are open", () => {
    const { channel, ask, log } = setUp();
    ask(1, 2);
    channel.says(
      '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
      '{"jsonrpc":"2.0","result":{}}',
    );
    expect(log).toEqual([]);
  });

  it.each([
    ["both result and error", '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'],
    ["neither result nor error", '{"jsonrpc":"2.0","id":1}'],
    ["another JSON-RPC version", '{"jsonrpc":"1.0","id":1,"result":{}}'],
    ["broken JSON", '{"jsonrpc":"2.0","id":1,"result":{"a":}}'],
    ["a cut", '{"jsonrpc":"2.0","id":1,"result":{"content":[{"ty'],
  ])("fails the request whose answer has %s, and no other", (_, text) => {
    const { channel, ask, log } = setUp();
    ask(1, 2);
    channel.says(text, '{"jsonrpc":"2.0","id":2,"result":{}}');
    expect(log).toHaveLength(2);
    expect(log[0]).toMatch(/^lost 1 invalid: /);
    expect(log[1]).toBe("response 2 {}");
  });

  it("fails the request whose answer was dropped for its length", () => {
    const { channel, ask, log } = setUp();
    ask(1, 2);
    channel.drops("oversized", '{"jsonrpc":"2.0","id":2,"result":{"content":[{"id":1,"text":"aaaa');
    channel.says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual([
      "lost 2 invalid: the answer is longer than the limit for one message",
      "response 1 {}",
    ]);
  });

  it("takes no id from inside a dropped text, nor one that the cut may have shortened", () => {
    const { channel, ask, log } = setUp();
    ask(1, 2);
    channel.drops("oversized", '{"jsonrpc":"2.0","result":{"id":1,"text":"aaaa');
    channel.drops("oversized", '{"jsonrpc":"2.0","id":2');
    expect(log).toEqual([]);
  });

  it("takes a dropped answer without a visible id for the only open request", () => {
    const { channel, ask, log } = setUp();
    ask(5);
    channel.drops(
      "oversized",
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"a',
    );
    expect(log).toEqual([]);
    channel.drops("oversized", '{"jsonrpc":"2.0","result":{"text":"aaaa');
    expect(log).toEqual(["lost 5 invalid: the answer is longer than the limit for one message"]);
  });

  it("cancels with its own id, once, and drops the late answer", () => {
    const { channel, link, ask, log } = setUp();
    ask(1, 2);
    link.cancel(1, 'the client said "stop"');
    link.cancel(1, "again");
    link.cancel(9, "never sent");
    channel.says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(channel.sent.slice(2)).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the client said \\"stop\\""}}',
    ]);
    expect(log).toEqual([]);
    channel.says('{"jsonrpc":"2.0","id":2,"result":{}}');
    expect(log).toEqual(["response 2 {}"]);
  });

  it("cancels in the client's own words where it has some", () => {
    const { channel, link, ask } = setUp();
    ask(1);
    const words =
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"k":1.0}}';
    link.cancel(1, "enough", words);
    expect(channel.sent.at(-1)).toBe(words);
  });

  it("never sends a cancellation of initialize", () => {
    const { channel, link, log } = setUp();
    link.request({ id: 1, method: "initialize", text: requestText(1, "initialize") });
    link.cancel(1, "too slow");
    channel.says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(channel.sent).toHaveLength(1);
    expect(log).toEqual([]);
  });

  it("reports every open request and then the end when the channel ends", async () => {
    const { channel, link, ask, log } = setUp();
    ask(1, 2);
    channel.ends("exit code 1");
    expect(log).toEqual([
      "lost 1 broken: exit code 1",
      "lost 2 broken: exit code 1",
      "closed: exit code 1",
    ]);
    link.request({ id: 3, method: "tools/call", text: requestText(3, "tools/call") });
    await settle();
    expect(log[3]).toBe("lost 3 not-sent: exit code 1");
    expect(channel.sent).toHaveLength(2);
  });

  it("closes the channel and reports the end", async () => {
    const { channel, link, ask, log } = setUp();
    ask(1);
    await link.close();
    expect(channel.closes).toBe(1);
    expect(log).toEqual(["lost 1 broken: closed by this side", "closed: closed by this side"]);
  });
});
