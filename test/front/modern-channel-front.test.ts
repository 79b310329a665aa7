import { expect, test } from "vitest";
import { settle } from "../support/manual-clock.js";
import { complete } from "../support/scripted-service.js";
import { params, requestText } from "./http/modern-conversation.js";
import { startChannelTalk } from "./modern-channel.js";

const DONE = '{"resultType":"complete"}';
const answer = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":${DONE}}`;
const cancelled = (id: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;

test("answers go out in the order they come, each under its own id", async () => {
  const { far, calls } = startChannelTalk();
  const ids = ["0", '""', '"0"', '"1"', "1", "1.5", "9007199254740993", '"\\u00e9"'];
  for (const id of ids) far.say(requestText(id, "tools/call", params(',"name":"t"')));
  for (const call of [...calls].reverse()) {
    call.settle(complete(DONE));
    await settle();
  }
  expect(far.sent).toEqual([...ids].reverse().map(answer));
});

test("a second request with an id in flight is refused and the first is answered", async () => {
  const { far, calls } = startChannelTalk();
  far.say(requestText('"a"', "tools/call", params(',"name":"t"')));
  far.say(requestText('"\\u0061"', "tools/call", params(',"name":"u"')));
  far.say(requestText("1", "tools/list", params()));
  expect(calls.map(({ operation }) => operation.method)).toEqual(["tools/call", "tools/list"]);
  expect(JSON.parse(far.sent[0] ?? "")).toMatchObject({ id: "a", error: { code: -32600 } });
  calls[0]?.settle(complete(DONE));
  await settle();
  expect(far.sent[1]).toBe(answer('"a"'));
  far.say(requestText('"a"', "tools/call", params(',"name":"t"')));
  expect(calls).toHaveLength(3);
});

test("a cancelled request is aborted and never answered", async () => {
  const { far, calls } = startChannelTalk();
  far.say(requestText("101", "tools/call", params(',"name":"t"', ',"progressToken":1')));
  far.say(requestText("102", "tools/call", params(',"name":"t"')));
  far.say(cancelled('"101"'));
  expect(calls[0]?.signal.aborted).toBe(false);
  far.say(cancelled("101"));
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
  calls[0]?.settle(complete(DONE));
  await settle();
  expect(far.sent).toEqual([]);
});

test("cancelling what is unknown, answered or malformed does nothing", async () => {
  const { far, calls } = startChannelTalk();
  far.say(requestText("1", "tools/list", params()));
  calls[0]?.settle(complete(DONE));
  await settle();
  far.say(cancelled("1"));
  far.say(cancelled("{}"));
  far.say('{"jsonrpc":"2.0","method":"notifications/cancelled"}');
  expect(far.sent).toEqual([answer("1")]);
  expect(calls[0]?.signal.aborted).toBe(false);
});

test("text that is no message is answered and the next one still works", async () => {
  const { far, calls } = startChannelTalk();
  far.say('{"jsonrpc":"2.0",');
  far.say('{"jsonrpc":"2.0","id":1}');
  far.say('{"jsonrpc":"2.0","id":null,"method":"tools/list"}');
  far.say("[]");
  far.say(`[${requestText("5", "tools/list", params())}]`);
  expect(far.sent.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: null, error: { code: -32700 } },
    { id: 1, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
  ]);
  far.say(requestText("6", "tools/list", params()));
  calls[0]?.settle(complete(DONE));
  await settle();
  expect(far.sent.at(-1)).toBe(answer("6"));
});

test("responses from the client are dropped", () => {
  const { far } = startChannelTalk();
  far.say('{"jsonrpc":"2.0","id":1,"result":{}}');
  far.say('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}');
  expect(far.sent).toEqual([]);
});

test("a message too long is refused under its id where its beginning tells it", () => {
  const { far } = startChannelTalk();
  far.drop("oversized", '{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"x":"aaaa');
  far.drop("oversized", '{"jsonrpc":"2.0","method":"tools/call","params":{"id":7,"x":"aaaa');
  far.drop("oversized", '{"jsonrpc":"2.0","id":9,"result":{"x":"aaaa');
  far.drop("not-utf8", "");
  expect(far.sent.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: "big", error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32700 } },
  ]);
});

test("initialize is refused with the revisions the conversation can have", () => {
  const { far } = startChannelTalk();
  far.say(requestText("1", "initialize", '{"protocolVersion":"2025-11-25","capabilities":{}}'));
  expect(JSON.parse(far.sent[0] ?? "")).toMatchObject({
    id: 1,
    error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2025-11-25" } },
  });
});

test("after the end of input calls in flight may finish, then the channel closes", async () => {
  const { far, calls, clock, served } = startChannelTalk();
  far.say(requestText("1", "tools/call", params(',"name":"t"')));
  far.say(requestText("2", "tools/call", params(',"name":"t"')));
  far.endInput();
  await clock.pass(4_999);
  calls[0]?.settle(complete(DONE));
  await settle();
  expect(far.sent).toEqual([answer("1")]);
  expect(far.closed).toBe(false);
  await clock.pass(1);
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  await served.finished;
  expect(far.closed).toBe(true);
  expect(clock.pending).toBe(0);
});

test("the channel closes at once when nothing is in flight", async () => {
  const { far, served, clock } = startChannelTalk();
  far.endInput();
  await served.finished;
  expect(far.closed).toBe(true);
  expect(clock.pending).toBe(0);
});

test("a close from our side lets calls finish and a second one cuts them short", async () => {
  const { far, calls, served, clock } = startChannelTalk();
  far.say(requestText("1", "tools/call", params(',"name":"t"')));
  void served.close(10_000);
  far.say(requestText("2", "tools/call", params(',"name":"t"')));
  expect(JSON.parse(far.sent[0] ?? "")).toMatchObject({ id: 2, error: { code: -32600 } });
  await served.close(0);
  expect(calls[0]?.signal.aborted).toBe(true);
  expect(far.closed).toBe(true);
  expect(clock.pending).toBe(0);
});

test("a client that does not read is cut and its calls are cancelled", async () => {
  const { far, calls, served } = startChannelTalk({ limits: { maxBacklogBytes: 1_000 } });
  far.say(requestText("1", "tools/call", params(',"name":"t"', ',"progressToken":1')));
  far.backlog = 1_000;
  calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
  expect(calls[0]?.signal.aborted).toBe(false);
  far.backlog = 1_001;
  calls[0]?.notices({ method: "notifications/progress", params: '{"progress":2}' });
  expect(calls[0]?.signal.aborted).toBe(true);
  await served.finished;
  expect(far.closed).toBe(true);
});
