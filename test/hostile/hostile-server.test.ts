import { expect, test } from "vitest";
import { answer, createRig, legacyServer, talkOn } from "../regress/rig.js";

const RESULT = { content: [{ type: "text", text: "mine" }] };
const ours = (id: number): string => answer(id, RESULT);
const INVALID = { error: { code: -32603, data: { reason: "upstream-invalid" } } };
const MINE = { result: { content: [{ type: "text", text: "mine" }] } };

const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

/** What a server says to a call, and what its client gets. */
const CASES: readonly (readonly [string, (id: number) => readonly string[], object])[] = [
  ["two answers", (id) => [ours(id), answer(id, { content: [] })], MINE],
  [
    "an answer and an error",
    (id) => [ours(id), `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no"}}`],
    MINE,
  ],
  [
    "answers to what was never asked",
    (id) => [answer(999, {}), answer(-1, {}), answer(1e15, {}), ours(id)],
    MINE,
  ],
  [
    "an answer that is both",
    (id) => [`{"jsonrpc":"2.0","id":${id},"result":{},"error":{"code":1,"message":"x"}}`],
    INVALID,
  ],
  ["an answer that is neither", (id) => [`{"jsonrpc":"2.0","id":${id}}`], INVALID],
  ["a result that is null", (id) => [answer(id, null)], INVALID],
  ["a result that is a list", (id) => [answer(id, [RESULT])], INVALID],
  [
    "a result without an end",
    (id) => [`{"jsonrpc":"2.0","id":${id},"result":{"content":[`],
    INVALID,
  ],
  ["a result 100,000 deep", (id) => [`{"jsonrpc":"2.0","id":${id},"result":${deep}}`], INVALID],
  [
    "a control character",
    (id) => [`{"jsonrpc":"2.0","id":${id},"result":{"a":"\u0000"}}`],
    INVALID,
  ],
  ["another JSON-RPC", (id) => [`{"jsonrpc":"1.0","id":${id},"result":{}}`, ours(id)], INVALID],
  ["an error that is a word", (id) => [`{"jsonrpc":"2.0","id":${id},"error":"boom"}`], INVALID],
  [
    "two ids",
    (id) => [`{"jsonrpc":"2.0","id":999,"id":${id},"result":${JSON.stringify(RESULT)}}`],
    MINE,
  ],
  [
    "notifications that make no sense",
    (id) => [
      '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`,
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}',
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":7}}',
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":5}}',
      '{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":null}',
      '{"jsonrpc":"2.0","method":"notifications/tasks/status"}',
      ours(id),
    ],
    MINE,
  ],
  [
    "requests that no server makes",
    (id) => [
      '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}',
      '{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"x"}}',
      '{"jsonrpc":"2.0","id":{},"method":"roots/list"}',
      '{"jsonrpc":"2.0","id":"c","method":"elicitation/create","params":[]}',
      ours(id),
    ],
    MINE,
  ],
];

test.each(CASES)("%s: the call ends once, and the next one works", async (_, says, expected) => {
  const rig = createRig(
    legacyServer(({ id, method, params }, say) => {
      if (method !== "tools/call" || id === undefined) return;
      const lines = params?.name === "sane" ? [ours(id)] : says(id);
      for (const line of lines) say(line);
    }),
  );
  const reply = rig.modern(7, "tools/call", { name: "odd" });
  await talkOn();
  expect(JSON.parse(reply.body)).toMatchObject({ id: 7, ...expected });
  const next = rig.modern(8, "tools/call", { name: "sane" });
  await talkOn();
  expect(JSON.parse(next.body)).toMatchObject({ id: 8, ...MINE });
  expect(rig.bridge.stats()).toMatchObject({ calls: 0, requests: 0, parked: 0, heldQuestions: 0 });
  await rig.bridge.close();
  expect(rig.clock.pending).toBe(0);
});

test("a hundred thousand notifications reach nobody who did not ask for them", async () => {
  const rig = createRig(
    legacyServer(({ id, method }, say) => {
      if (method !== "tools/call" || id === undefined) return;
      for (let n = 0; n < 100_000; n++) {
        say('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
        say(
          '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}}',
        );
      }
      say(ours(id));
    }),
  );
  const watch = rig.modern(1, "subscriptions/listen", {
    notifications: { toolsListChanged: true },
  });
  await talkOn();
  const reply = rig.modern(2, "tools/call", { name: "loud" });
  await talkOn();
  expect(JSON.parse(reply.body)).toMatchObject({ id: 2, ...MINE });
  await rig.clock.pass(1_000);
  expect(watch.body.match(/list_changed/g)?.length).toBeLessThan(5);
  await rig.bridge.close();
  expect(rig.clock.pending).toBe(0);
});
