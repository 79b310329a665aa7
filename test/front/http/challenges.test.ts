import { describe, expect, test } from "vitest";
import { BridgeError, type Challenge } from "../../../src/index.js";
import { toFailed } from "../../../src/model/failure.js";
import type { Failed } from "../../../src/model/operation.js";
import { settle } from "../../support/manual-clock.js";
import { startLegacyTalk } from "../legacy-talk.js";
import { eventsIn, startLegacyHttp } from "./legacy-conversation.js";
import { expectError, params, startTalk } from "./modern-conversation.js";

const AUTHENTICATE =
  'Bearer realm="x", error="invalid_token", scope="a b", resource_metadata="https://up.example/.well-known/oauth-protected-resource", DPoP algs="ES256"';

function refusal(status: Challenge["status"], authenticate: string | undefined = AUTHENTICATE) {
  return new BridgeError("upstream-unauthorized", "server refuses the credentials", {
    data: { status },
    challenge: { status, authenticate },
  });
}

function refused(status: Challenge["status"], authenticate?: string): Failed {
  return toFailed(refusal(status, authenticate));
}

test("a challenge is no part of the error that tells of it", () => {
  const { error, challenge } = refused(401);
  expect(challenge).toEqual({ status: 401, authenticate: AUTHENTICATE });
  expect(JSON.parse(error.text)).toEqual({
    code: -32603,
    message: "server refuses the credentials",
    data: {
      reason: "upstream-unauthorized",
      status: 401,
      bridge: { reason: "upstream-unauthorized" },
    },
  });
});

describe("a modern client", () => {
  test.each([401, 403] as const)("gets a refusal with %i as the server gave it", async (status) => {
    const talk = startTalk();
    const reply = talk.post('"7"', "tools/list", params());
    talk.calls[0]?.settle(refused(status));
    await settle();
    expectError(reply, status, "7", -32603);
    expect(reply.headers).toEqual({
      "content-type": "application/json",
      "www-authenticate": AUTHENTICATE,
    });
    expect(reply.body).not.toContain("realm");
  });

  test("gets the status alone where the server gave no reason", async () => {
    const talk = startTalk();
    const reply = talk.post("7", "tools/list", params());
    talk.calls[0]?.settle({ ...refused(403), challenge: { status: 403, authenticate: undefined } });
    await settle();
    expectError(reply, 403, 7, -32603);
    expect(reply.headers).toEqual({ "content-type": "application/json" });
  });

  test("gets it for discover and subscriptions as well", async () => {
    const talk = startTalk();
    const discover = talk.post("1", "server/discover", params());
    const listen = talk.post("2", "subscriptions/listen", params(',"notifications":{}'));
    talk.describes[0]?.reject(refusal(401));
    talk.watches[0]?.reject(refusal(401));
    await settle();
    for (const [reply, id] of [
      [discover, 1],
      [listen, 2],
    ] as const) {
      expectError(reply, 401, id, -32603);
      expect(reply.headers["www-authenticate"]).toBe(AUTHENTICATE);
    }
  });

  test("gets only the error where a stream is under way", async () => {
    const talk = startTalk();
    const reply = talk.post("1", "tools/list", params("", ',"progressToken":1'));
    talk.calls[0]?.notices({ method: "notifications/progress", params: '{"progress":1}' });
    talk.calls[0]?.settle(refused(401));
    await settle();
    expect(reply).toMatchObject({ status: 200, streamed: true, ended: true });
    expect(reply.headers).not.toHaveProperty("www-authenticate");
    expect(reply.body).toContain('"reason":"upstream-unauthorized"');
    expect(reply.body).not.toContain("realm");
  });
});

describe("a legacy client", () => {
  const initialize = {
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {} },
  };
  const call = (id: number) => ({ id, method: "tools/call", params: { name: "t" } });

  test("gets a refusal of its handshake as the server gave it, and no session", async () => {
    const talk = startLegacyHttp();
    const reply = talk.post(initialize);
    talk.describes[0]?.reject(refusal(401));
    await settle();
    expectError(reply, 401, 0, -32603);
    expect(reply.headers).toEqual({
      "content-type": "application/json",
      "www-authenticate": AUTHENTICATE,
    });
    expect(talk.legacy.sessions).toBe(0);
  });

  test.each([
    ["tools/list", {}],
    ["resources/subscribe", { uri: "a:b" }],
  ])("gets a refusal of %s as the server gave it, and keeps its session", async (method, given) => {
    const talk = startLegacyHttp();
    const session = await talk.open({ server: '{"tools":{},"resources":{"subscribe":true}}' });
    const reply = talk.post({ id: 3, method, params: given }, session);
    await settle();
    talk.calls[0]?.settle(refused(403));
    talk.watches[0]?.reject(refusal(403));
    await settle();
    expectError(reply, 403, 3, -32603);
    expect(reply.headers["www-authenticate"]).toBe(AUTHENTICATE);
    expect(talk.legacy.sessions).toBe(1);
  });

  test("that may be asked waits for its stream until the server has taken the call", async () => {
    const talk = startLegacyHttp({ sameResource: true });
    const session = await talk.open({ client: { elicitation: {} } });
    const first = talk.post(call(1), session);
    talk.calls[0]?.settle(refused(401));
    await settle();
    expectError(first, 401, 1, -32603);
    const second = talk.post(call(2), session);
    await talk.clock.pass(60_000);
    expect(second).toMatchObject({ status: 200, streamed: true });
    talk.calls[1]?.settle(refused(401));
    await settle();
    expect(second.headers).not.toHaveProperty("www-authenticate");
    expect(eventsIn(second)).toMatchObject([
      { data: { id: 2, error: { code: -32603, data: { reason: "upstream-unauthorized" } } } },
    ]);
    expect(second.body).not.toContain("realm");
  });

  test("gets the status for a batch when all of it is refused, and not when some is", async () => {
    const talk = startLegacyHttp();
    const session = await talk.open({ revision: "2025-03-26" });
    const batch = (first: number): string =>
      JSON.stringify([call(first), call(first + 1)].map((each) => ({ jsonrpc: "2.0", ...each })));
    const all = talk.post(batch(1), session);
    const some = talk.post(batch(3), session);
    for (const index of [0, 1, 2]) talk.calls[index]?.settle(refused(401));
    talk.calls[3]?.settle({ type: "complete", result: '{"content":[]}' });
    await settle();
    expect([all.status, all.headers["www-authenticate"]]).toEqual([401, AUTHENTICATE]);
    expect(JSON.parse(all.body)).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect([some.status, some.headers["www-authenticate"]]).toEqual([200, undefined]);
  });

  test("on a channel gets words", async () => {
    const talk = startLegacyTalk();
    talk.say(initialize);
    talk.describes[0]?.reject(refusal(401));
    const [text = ""] = await talk.heardTexts();
    expect(JSON.parse(text)).toMatchObject({
      id: 0,
      error: { code: -32603, message: "server refuses the credentials" },
    });
    expect(text).not.toContain("realm");
  });
});
