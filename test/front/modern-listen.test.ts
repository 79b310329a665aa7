import { expect, test } from "vitest";
import { BridgeError } from "../../src/index.js";
import { settle } from "../support/manual-clock.js";
import { expectError, params, requestText, startTalk } from "./http/modern-conversation.js";
import { startChannelTalk } from "./modern-channel.js";

const FILTER = ',"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x://a"]}';

function event(text: string): string {
  return `data: ${text}\n\n`;
}

function frame(method: string, id: string, rest: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/${method}","params":{${rest.replace("$META", `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`)}}}`;
}

test.each(["1", '"1"', "1.0"])(
  "the acknowledgement is first and all frames carry the id %s",
  async (id) => {
    const talk = startTalk();
    const reply = talk.post(id, "subscriptions/listen", params(FILTER));
    const watch = talk.watches[0];
    expect(watch?.interest).toEqual({
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: false,
      resourceSubscriptions: ["x://a"],
      text: '{"toolsListChanged":true,"resourceSubscriptions":["x://a"]}',
    });
    watch?.notices({ method: "notifications/tools/list_changed", params: undefined });
    expect(reply.status).toBeUndefined();
    watch?.acknowledge('{"toolsListChanged":true}');
    await settle();
    const acknowledged = event(
      frame("subscriptions/acknowledged", id, '$META,"notifications":{"toolsListChanged":true}'),
    );
    const changed = event(frame("tools/list_changed", id, "$META"));
    expect(reply).toMatchObject({ status: 200, body: acknowledged + changed });
    watch?.notices({
      method: "notifications/resources/updated",
      params: '{"uri":"x://a/b","_meta":{"com.acme/n":1.0}}',
    });
    expect(reply.body.slice((acknowledged + changed).length)).toBe(
      event(
        `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://a/b","_meta":{"com.acme/n":1.0,"io.modelcontextprotocol/subscriptionId":${id}}}}`,
      ),
    );
  },
);

test("nothing goes out that was not asked for", async () => {
  const talk = startTalk();
  const reply = talk.post(
    "1",
    "subscriptions/listen",
    params(',"notifications":{"promptsListChanged":true}'),
  );
  talk.watches[0]?.acknowledge("{}");
  await settle();
  const before = reply.body;
  for (const method of [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/progress",
    "notifications/message",
    "notifications/cancelled",
    "notifications/elicitation/complete",
  ]) {
    talk.watches[0]?.notices({ method, params: "{}" });
  }
  expect(reply.body).toBe(before);
  talk.watches[0]?.notices({ method: "notifications/prompts/list_changed", params: undefined });
  expect(reply.body).toBe(before + event(frame("prompts/list_changed", "1", "$META")));
});

test("a flag counts only when it is true, and equal URIs are one", () => {
  const talk = startTalk();
  talk.post(
    "1",
    "subscriptions/listen",
    params(
      ',"notifications":{"toolsListChanged":1,"promptsListChanged":false,"resourceSubscriptions":["a","\\u0061"]}',
    ),
  );
  expect(talk.watches[0]?.interest).toMatchObject({
    toolsListChanged: false,
    promptsListChanged: false,
    resourceSubscriptions: ["a"],
  });
});

test.each([
  "",
  ',"notifications":[]',
  ',"notifications":null',
  ',"notifications":{"resourceSubscriptions":"x://a"}',
  ',"notifications":{"resourceSubscriptions":[1]}',
  ',"notifications":{"resourceSubscriptions":["a","b","c"]}',
])("the filter %s is refused", (filter) => {
  const talk = startTalk({ limits: { maxWatchedUris: 2 } });
  expectError(talk.post("1", "subscriptions/listen", params(filter)), 400, 1, -32602);
  expect(talk.watches).toEqual([]);
});

test("task notifications need the tasks extension", () => {
  const talk = startTalk();
  const filter = params(',"notifications":{"taskIds":["t"]}');
  expectError(talk.post("1", "subscriptions/listen", filter), 400, 1, -32021);
});

test("a client that closes the stream ends the watch, and nothing more is written", async () => {
  const talk = startTalk({ limits: { maxWatchesPerPrincipal: 1 } });
  const reply = talk.post("1", "subscriptions/listen", params(FILTER));
  talk.watches[0]?.acknowledge("{}");
  await settle();
  expectError(talk.post("2", "subscriptions/listen", params(FILTER)), 503, 2, -32603);
  const before = reply.body;
  reply.leave();
  expect(talk.watches[0]?.signal.aborted).toBe(true);
  talk.watches[0]?.notices({ method: "notifications/tools/list_changed", params: undefined });
  talk.watches[0]?.end();
  await settle();
  expect(reply.body).toBe(before);
  expect(talk.clock.pending).toBe(0);
  talk.post("3", "subscriptions/listen", params(FILTER));
  expect(talk.watches).toHaveLength(2);
});

test("a client that leaves before the acknowledgement never gets one", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "subscriptions/listen", params(FILTER));
  reply.leave();
  expect(talk.watches[0]?.signal.aborted).toBe(true);
  talk.watches[0]?.acknowledge("{}");
  await settle();
  expect(reply.status).toBeUndefined();
});

const ENDED = (id: string): string =>
  `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}}`;

test("a watch the server ends is ended with a result and the stream closes", async () => {
  const talk = startTalk();
  const reply = talk.post('"s"', "subscriptions/listen", params(FILTER));
  talk.watches[0]?.acknowledge("{}");
  await settle();
  talk.watches[0]?.end();
  await settle();
  expect(reply.body.endsWith(event(ENDED('"s"')))).toBe(true);
  expect(reply.ended).toBe(true);
  expect(talk.watches[0]?.signal.aborted).toBe(true);
  expect(talk.clock.pending).toBe(0);
});

test("closing the endpoint ends every subscription gracefully and refuses new requests", async () => {
  const talk = startTalk();
  const replies = ["1", "2"].map((id) => talk.post(id, "subscriptions/listen", params(FILTER)));
  for (const watch of talk.watches) watch.acknowledge("{}");
  await settle();
  talk.close();
  replies.forEach((reply, n) => {
    expect(reply.body.endsWith(event(ENDED(String(n + 1))))).toBe(true);
    expect(reply.ended).toBe(true);
  });
  expectError(talk.post("3", "tools/list", params()), 503, 3, -32603);
  expect(talk.clock.pending).toBe(0);
});

test("a watch that cannot be arranged fails with its reason", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "subscriptions/listen", params(FILTER));
  talk.watches[0]?.reject(new BridgeError("upstream-unavailable", "the server is not there"));
  await settle();
  const error = expectError(reply, 503, 1, -32603);
  expect(error["message"]).toBe("the server is not there");
});

test("a quiet subscription is kept alive by comments", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "subscriptions/listen", params(FILTER));
  talk.watches[0]?.acknowledge("{}");
  await settle();
  const before = reply.body;
  talk.clock.advance(30_000);
  expect(reply.body).toBe(`${before}: \n\n: \n\n`);
});

test("on a channel the end is a result and then a cancelled notification", async () => {
  const { far, watches } = startChannelTalk();
  far.say(requestText("7", "subscriptions/listen", params(FILTER)));
  watches[0]?.acknowledge("{}");
  await settle();
  watches[0]?.end();
  await settle();
  expect(far.sent).toEqual([
    frame("subscriptions/acknowledged", "7", '$META,"notifications":{}'),
    ENDED("7"),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
  ]);
});

test("on a channel the client's cancellation ends it without a word", async () => {
  const { far, watches } = startChannelTalk();
  far.say(requestText("7", "subscriptions/listen", params(FILTER)));
  watches[0]?.acknowledge("{}");
  await settle();
  far.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}');
  expect(watches[0]?.signal.aborted).toBe(true);
  watches[0]?.notices({ method: "notifications/tools/list_changed", params: undefined });
  await settle();
  expect(far.sent).toHaveLength(1);
});

test("the end of input ends subscriptions at once while calls may finish", async () => {
  const { far, watches, served, clock } = startChannelTalk();
  far.say(requestText("7", "subscriptions/listen", params(FILTER)));
  watches[0]?.acknowledge("{}");
  await settle();
  far.endInput();
  await served.finished;
  expect(far.sent[1]).toBe(ENDED("7"));
  expect(watches[0]?.signal.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});
