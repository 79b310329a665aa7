import { expect, test } from "vitest";
import { params, startTalk } from "../front/http/modern-conversation.js";
import { settle } from "../support/manual-clock.js";
import { complete } from "../support/scripted-service.js";

test("a client that does not read its stream is cut and its call is cancelled", async () => {
  const talk = startTalk({ limits: { maxBacklogBytes: 1_000 } });
  const slow = talk.post("1", "tools/list", params("", ',"progressToken":1'));
  const other = talk.post("2", "tools/list", params("", ',"progressToken":2'));
  const progress = (n: number): void => {
    const notice = { method: "notifications/progress", params: `{"progress":${n}}` };
    for (const { notices } of talk.calls) notices(notice);
  };
  progress(1);
  slow.backlog = 1_000;
  progress(2);
  expect(slow.destroyed).toBe(false);
  slow.backlog = 1_001;
  progress(3);
  expect(slow.destroyed).toBe(true);
  expect(talk.calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  const last = slow.body;
  progress(4);
  for (const call of talk.calls) call.settle(complete("{}"));
  await settle();
  expect(slow.body).toBe(last);
  expect(other.ended).toBe(true);
  expect(talk.clock.pending).toBe(0);
});

test("a subscriber that does not read is cut and its watch ends", async () => {
  const talk = startTalk({ limits: { maxBacklogBytes: 1_000 } });
  const filter = params(',"notifications":{"toolsListChanged":true}');
  const slow = talk.post("1", "subscriptions/listen", filter);
  talk.watches[0]?.acknowledge("{}");
  await settle();
  slow.backlog = 1_001;
  talk.clock.advance(15_000);
  expect(slow.destroyed).toBe(true);
  expect(talk.watches[0]?.signal.aborted).toBe(true);
  expect(talk.clock.pending).toBe(0);
});
