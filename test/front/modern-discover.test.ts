import { expect, test } from "vitest";
import { type Advertisement, BridgeError } from "../../src/index.js";
import { PeerError } from "../../src/model/failure.js";
import { settle } from "../support/manual-clock.js";
import { expectError, params, startTalk } from "./http/modern-conversation.js";

const RESULT =
  '{"resultType":"complete","supportedVersions":["2027-01-01","2026-07-28"],"capabilities":{"tools":{}},' +
  '"instructions":"\\u00e9","ttlMs":5,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1.0"}},"x":1.0}';
const ADVERTISEMENT: Advertisement = {
  era: "modern",
  revision: "2026-07-28",
  result: RESULT,
  capabilities: '{"tools":{}}',
  serverInfo: undefined,
  instructions: undefined,
};

test("the server's description is passed on with the revisions of this endpoint", async () => {
  const talk = startTalk();
  const reply = talk.post('"d"', "server/discover", params());
  expect(talk.describes[0]?.caller).toMatchObject({ principal: "local", capabilities: "{}" });
  talk.describes[0]?.settle(ADVERTISEMENT);
  await settle();
  expect(reply).toMatchObject({ status: 200, streamed: false });
  expect(reply.body).toBe(
    `{"jsonrpc":"2.0","id":"d","result":${RESULT.replace('["2027-01-01","2026-07-28"]', '["2026-07-28"]')}}`,
  );
  expect(talk.clock.pending).toBe(0);
});

test("an endpoint of both eras names the revisions of both, the modern ones first", async () => {
  const talk = startTalk({ legacy: () => undefined });
  const reply = talk.post("1", "server/discover", params());
  talk.describes[0]?.settle(ADVERTISEMENT);
  await settle();
  expect(JSON.parse(reply.body)).toMatchObject({
    result: {
      supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
    },
  });
});

test("a server that is still starting does not fail the probe", async () => {
  const talk = startTalk({ limits: { startTimeoutMs: 3_000 } });
  const reply = talk.post("1", "server/discover", params());
  await talk.clock.pass(2_999);
  expect(reply.status).toBeUndefined();
  await talk.clock.pass(1);
  expect(reply.body).toBe(
    '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}',
  );
  talk.describes[0]?.settle(ADVERTISEMENT);
  await settle();
  expect(talk.clock.pending).toBe(0);
});

test("a start that ran into its own time limit does not fail the probe either", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "server/discover", params());
  talk.describes[0]?.reject(new BridgeError("upstream-timeout", "late"));
  await settle();
  expect(reply).toMatchObject({ status: 200 });
  expect(JSON.parse(reply.body)).toMatchObject({ result: { capabilities: {} } });
});

test("a server that is not there is no verdict about an era", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "server/discover", params());
  talk.describes[0]?.reject(new BridgeError("upstream-unavailable", "cannot start"));
  await settle();
  expect(expectError(reply, 503, 1, -32603)["message"]).toBe("cannot start");
});

test("the server's own error is passed on", async () => {
  const talk = startTalk();
  const reply = talk.post("1", "server/discover", params());
  const text = '{"code":-32603,"message":"no","data":1.0}';
  talk.describes[0]?.reject(new PeerError({ code: -32603, text }));
  await settle();
  expect(reply).toMatchObject({
    status: 200,
    body: `{"jsonrpc":"2.0","id":1,"error":${text}}`,
  });
});
