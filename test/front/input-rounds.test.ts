import { describe, expect, test } from "vitest";
import { settle } from "../support/manual-clock.js";
import { complete } from "../support/scripted-service.js";
import { type LegacyTalk, startLegacyTalk } from "./legacy-talk.js";

const CLIENT = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };

const PATIENCE = { reverseTimeoutMs: 600_000, requestCeilingMs: 1_800_000 };

const FORM =
  '{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}';
const ASK =
  '{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5}}';
const ROOTS = '{"method":"roots/list"}';
const VISIT =
  '{"method":"elicitation/create","params":{"mode":"url","message":"Sign in","url":"https://x.invalid/a"}}';

async function startCall(
  method = "tools/call",
  params: object = { name: "deploy", arguments: {} },
  client: object = CLIENT,
): Promise<LegacyTalk> {
  const talk = startLegacyTalk(PATIENCE);
  await talk.open({ client });
  talk.say({ id: 5, method, params });
  return talk;
}

/** The server answers the newest round by asking. */
async function askFor(
  talk: LegacyTalk,
  requests: string | undefined,
  state?: string,
): Promise<void> {
  const parts = [
    ...(requests === undefined ? [] : [`"inputRequests":${requests}`]),
    ...(state === undefined ? [] : [`"requestState":${state}`]),
  ];
  talk.calls.at(-1)?.settle({
    type: "input-required",
    requests,
    continuation: state,
    result: `{"resultType":"input_required",${parts.join(",")}}`,
  });
  await settle();
}

describe("a round of questions", () => {
  test("that asks for too much at once is refused, and nobody is bothered", async () => {
    const talk = await startCall();
    const many = Array.from({ length: 1_025 }, (_, n) => `"k${n}":${ROOTS}`).join(",");
    await askFor(talk, `{${many}}`);
    expect(await talk.heard()).toMatchObject([
      { id: 5, result: { isError: true, content: [{ text: expect.stringContaining("1025") }] } },
    ]);
  });

  test("goes out on the call in parallel and comes back as one retry", async () => {
    const talk = await startCall();
    const state = '"a\\u0000\\ud83d \\"q\\" \u00e9"';
    await askFor(talk, `{"who":${FORM},"what":${ASK},"where":${ROOTS}}`, state);
    expect(await talk.heard()).toEqual([
      {
        jsonrpc: "2.0",
        id: 1,
        method: "elicitation/create",
        params: {
          message: "Who?",
          requestedSchema: { type: "object", properties: {} },
          _meta: { "io.erabridge/input-key": "who", progressToken: 1 },
        },
      },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: "x" } }],
          maxTokens: 5,
          _meta: { "io.erabridge/input-key": "what", progressToken: 2 },
        },
      },
      {
        jsonrpc: "2.0",
        id: 3,
        method: "roots/list",
        params: { _meta: { "io.erabridge/input-key": "where", progressToken: 3 } },
      },
    ]);
    talk.sayText('{"jsonrpc":"2.0","id":3,"result":{"roots":[],"_meta":{"x":1}}}');
    talk.sayText('{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":1.0}}}');
    expect(talk.calls).toHaveLength(1);
    talk.sayText(
      '{"jsonrpc":"2.0","id":2,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"y"}}}',
    );
    await settle();
    expect(talk.calls[1]?.operation).toMatchObject({
      method: "tools/call",
      params: '{"name":"deploy","arguments":{}}',
      answers: {
        continuation: state,
        responses:
          '{"who":{"action":"accept","content":{"n":1.0}},"what":{"role":"assistant","model":"m","content":{"type":"text","text":"y"}},"where":{"roots":[]}}',
      },
    });
    talk.calls[1]?.settle(complete('{"content":[]}'));
    expect(await talk.heardTexts()).toEqual(['{"jsonrpc":"2.0","id":5,"result":{"content":[]}}']);
  });

  test("without a state is answered without one, and each round has only its own answers", async () => {
    const talk = await startCall();
    await askFor(talk, `{"a":${ROOTS}}`);
    talk.say({ id: 1, result: { roots: [] } });
    await settle();
    expect(talk.calls[1]?.operation.answers).toEqual({
      continuation: undefined,
      responses: '{"a":{"roots":[]}}',
    });
    await askFor(talk, `{"b":${ROOTS}}`, '"s"');
    talk.say({ id: 2, result: { roots: [{ uri: "file:///" }] } });
    await settle();
    expect(talk.calls[2]?.operation.answers).toEqual({
      continuation: '"s"',
      responses: '{"b":{"roots":[{"uri":"file:///"}]}}',
    });
  });

  test("passes a refusal that is a result to the server", async () => {
    const talk = await startCall();
    await askFor(talk, `{"who":${FORM}}`);
    talk.say({ id: 1, result: { action: "decline" } });
    await settle();
    expect(talk.calls[1]?.operation.answers?.responses).toBe('{"who":{"action":"decline"}}');
  });

  test("keeps progress rising although each round starts at zero", async () => {
    const talk = startLegacyTalk();
    await talk.open({ client: CLIENT });
    talk.say({ id: 5, method: "tools/call", params: { name: "t", _meta: { progressToken: 9 } } });
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":2}' });
    await askFor(talk, `{"a":${ROOTS}}`);
    talk.say({ id: 1, result: { roots: [] } });
    await settle();
    await talk.heard();
    for (const value of [0, 1, 2, 3]) {
      talk.calls[1]?.notices({
        method: "notifications/progress",
        params: `{"progress":${value}}`,
      });
    }
    expect(await talk.heard()).toMatchObject([{ params: { progress: 3, progressToken: 9 } }]);
  });
});

describe("a call that lacks its input", () => {
  const refusal = (reason: string) => ({
    id: 5,
    result: {
      isError: true,
      content: [{ type: "text", text: `Input required by deploy was not provided: ${reason}` }],
    },
  });

  test("ends as a tool error when the client answers an error, and its sibling is taken back", async () => {
    const talk = await startCall();
    await askFor(talk, `{"what":${ASK},"who":${FORM}}`, '"s"');
    await talk.heard();
    talk.say({ id: 1, error: { code: -1, message: "User rejected sampling request" } });
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: 2 } },
      refusal("User rejected sampling request"),
    ]);
    expect(talk.calls).toHaveLength(1);
  });

  test.each([
    ["prompts/get", { name: "p" }, "p"],
    ["resources/read", { uri: "x://a" }, "x://a"],
  ])("ends as an error for %s", async (method, params, subject) => {
    const talk = await startCall(method, params);
    await askFor(talk, `{"who":${FORM}}`);
    await talk.heard();
    talk.say({ id: 1, error: { code: -32603, message: "no" } });
    expect(await talk.heard()).toMatchObject([
      {
        id: 5,
        error: { code: -32603, message: `Input required by ${subject} was not provided: no` },
      },
    ]);
  });

  test("ends when the client is silent too long, progress on the question counting as a sign", async () => {
    const talk = await startCall();
    await askFor(talk, `{"who":${FORM}}`);
    await talk.heard();
    await talk.clock.pass(500_000);
    talk.say({ method: "notifications/progress", params: { progressToken: 1, progress: 1 } });
    await talk.clock.pass(599_999);
    expect(await talk.heard()).toEqual([]);
    await talk.clock.pass(1);
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: 1 } },
      refusal("no answer in time"),
    ]);
    talk.say({ id: 1, result: { action: "accept" } });
    expect(await talk.heard()).toEqual([]);
    expect(talk.journal.events).toContain("stray-answer-dropped");
  });

  test.each([
    [{ action: "maybe" }, "action must be accept, decline or cancel"],
    [{}, "action must be accept, decline or cancel"],
    ["yes", "the answer is no object"],
  ])("ends when the answer is %j", async (result, reason) => {
    const talk = await startCall();
    await askFor(talk, `{"who":${FORM}}`);
    await talk.heard();
    talk.say({ id: 1, result });
    expect(await talk.heard()).toMatchObject([refusal(reason)]);
  });

  test.each([
    [
      "what the client did not declare",
      `{"a":${ROOTS},"b":${ASK}}`,
      { roots: {} },
      "the server asks for sampling/createMessage, which this client did not declare",
    ],
    [
      "a URL where the client takes forms",
      `{"a":${VISIT}}`,
      { elicitation: {} },
      "the server asks for elicitation/create, which this client did not declare",
    ],
    [
      "what no client can be asked",
      `{"a":${ROOTS},"b":{"method":"ping"}}`,
      CLIENT,
      "the server asks for ping",
    ],
  ])("ends without a word when the server asks for %s", async (_, requests, client, reason) => {
    const talk = await startCall("tools/call", { name: "deploy" }, client);
    await askFor(talk, requests);
    expect(await talk.heard()).toMatchObject([refusal(reason)]);
  });

  test("ends after the last round that is allowed", async () => {
    const talk = await startCall();
    for (let id = 1; id <= 10; id++) {
      await askFor(talk, `{"r${id}":${ROOTS}}`);
      talk.say({ id, result: { roots: [] } });
      await settle();
    }
    await talk.heard();
    await askFor(talk, `{"r11":${ROOTS}}`);
    expect(await talk.heard()).toMatchObject([
      refusal("the server asked for input in more than 10 rounds"),
    ]);
    expect(talk.calls).toHaveLength(11);
  });
});

describe("a round that asks for nothing", () => {
  test("is repeated with its state after a pause that grows", async () => {
    const talk = await startCall();
    for (const [index, ms] of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
      await askFor(talk, undefined, `"s${index}"`);
      await talk.clock.pass(ms - 1);
      expect(talk.calls).toHaveLength(index + 1);
      await talk.clock.pass(1);
      expect(talk.calls[index + 1]?.operation.answers).toEqual({
        continuation: `"s${index}"`,
        responses: undefined,
      });
    }
    talk.calls.at(-1)?.settle(complete('{"content":[]}'));
    expect(await talk.heard()).toMatchObject([{ id: 5, result: { content: [] } }]);
  });

  test("is not repeated for ever", async () => {
    const talk = await startCall();
    for (let rounds = 0; rounds < 400; rounds++) {
      await askFor(talk, undefined, '"s"');
      await talk.clock.pass(5_000);
    }
    expect(await talk.heard()).toMatchObject([{ id: 5, result: { isError: true } }]);
    expect(talk.clock.pending).toBe(0);
  });
});

describe("a URL", () => {
  test("has an id of its own, is not asked again while the user is there, and ends with a notice", async () => {
    const talk = await startCall();
    await askFor(talk, `{"u1":${VISIT}}`, '"s1"');
    expect(await talk.heard()).toMatchObject([
      { id: 1, method: "elicitation/create", params: { mode: "url", elicitationId: "t1" } },
    ]);
    talk.say({ id: 1, result: { action: "accept" } });
    await settle();
    await askFor(talk, `{"u2":${VISIT}}`, '"s2"');
    await talk.clock.pass(1_999);
    expect(talk.calls).toHaveLength(2);
    await talk.clock.pass(1);
    expect(talk.calls[2]?.operation.answers).toEqual({
      continuation: '"s2"',
      responses: '{"u2":{"action":"accept"}}',
    });
    talk.calls[2]?.settle(complete('{"content":[]}'));
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/elicitation/complete", params: { elicitationId: "t1" } },
      { id: 5, result: {} },
    ]);
  });

  test("is asked once more after five minutes, and then no more", async () => {
    const talk = await startCall();
    const wait = async (ms: number): Promise<void> => {
      const until = talk.clock.now() + ms;
      while (talk.clock.now() < until) {
        await askFor(talk, `{"u":${VISIT}}`, '"s"');
        await talk.clock.pass(15_000);
      }
    };
    await askFor(talk, `{"u":${VISIT}}`, '"s"');
    talk.say({ id: 1, result: { action: "accept" } });
    await settle();
    await wait(300_000);
    await askFor(talk, `{"u":${VISIT}}`, '"s"');
    expect(await talk.heard()).toMatchObject([{ id: 1 }, { id: 2, params: { mode: "url" } }]);
    talk.say({ id: 2, result: { action: "accept" } });
    await settle();
    await wait(315_000);
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/elicitation/complete" },
      {
        id: 5,
        result: {
          content: [
            {
              text: "Input required by deploy was not provided: the server still waits for the interaction at its URL",
            },
          ],
        },
      },
    ]);
  });

  test("that the user declines is asked again when the server insists", async () => {
    const talk = await startCall();
    await askFor(talk, `{"u":${VISIT}}`);
    talk.say({ id: 1, result: { action: "decline" } });
    await settle();
    await askFor(talk, `{"u":${VISIT}}`);
    expect(await talk.heard()).toMatchObject([{ id: 1 }, { id: 2 }]);
  });
});

describe("a client that cancels", () => {
  test("in the middle of a question has the question taken back and hears nothing more", async () => {
    const talk = await startCall();
    await askFor(talk, `{"who":${FORM}}`, '"s"');
    await talk.heard();
    talk.say({ method: "notifications/cancelled", params: { requestId: 5 } });
    expect(await talk.heard()).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: 1 } },
    ]);
    talk.say({ id: 1, result: { action: "accept" } });
    expect(await talk.heard()).toEqual([]);
    expect(talk.calls).toHaveLength(1);
    expect(talk.clock.pending).toBe(0);
  });

  test("between two polls ends them", async () => {
    const talk = await startCall();
    await askFor(talk, undefined, '"s"');
    talk.say({ method: "notifications/cancelled", params: { requestId: 5 } });
    await talk.clock.pass(10_000);
    expect(talk.calls).toHaveLength(1);
  });
});

test("a client whose input has ended is not waited for", async () => {
  const talk = await startCall();
  await askFor(talk, `{"who":${FORM}}`);
  await talk.heard();
  await talk.finish(5_000);
  expect(await talk.heard()).toMatchObject([{ id: 5, result: { isError: true } }]);
});
