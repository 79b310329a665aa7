import { expect, test } from "vitest";
import { settle } from "../../support/manual-clock.js";
import { complete } from "../../support/scripted-service.js";
import { params, startTalk } from "./modern-conversation.js";

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
  talk.calls[0]?.settle(complete('{"resultType":"complete"}'));
  await settle();
  expect(reply.body).toMatch(
    /\n\ndata: \{"jsonrpc":"2.0","id":1,"result":\{"resultType":"complete"\}\}\n\n$/,
  );
  expect(reply.ended).toBe(true);
  expect(talk.clock.pending).toBe(0);
});
