import { expect, test } from "vitest";
import { createRig, talkOn } from "./rig.js";

const INITIALIZE = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  },
};

const refusesProbe = (
  { id, method }: { id?: number; method?: string },
  say: (text: string) => void,
) => {
  if (method !== "server/discover") return;
  say(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no"}}`);
};

test("a bridge that is closed answers and ends a handshake that is under way", async () => {
  const rig = createRig(refusesProbe);
  const reply = rig.legacy(INITIALIZE);
  await talkOn();
  expect(rig.heard.at(-1)).toMatchObject({ method: "initialize" });
  let closed = false;
  void rig.bridge.close().then(() => {
    closed = true;
  });
  await talkOn();
  expect(closed).toBe(true);
  expect([reply.status, reply.body]).toEqual([503, expect.stringContaining('"id":1')]);
  expect(rig.channels.every(({ closes }) => closes > 0)).toBe(true);
  expect(rig.clock.pending).toBe(0);
});

test("a client that does not wait for its handshake leaves nothing", async () => {
  const rig = createRig(refusesProbe);
  const reply = rig.legacy(INITIALIZE);
  await talkOn();
  reply.leave();
  await talkOn();
  expect(rig.bridge.stats()).toMatchObject({ frontSessions: 0, coupledSessions: 0, requests: 0 });
  expect(rig.channels.every(({ closes }) => closes > 0)).toBe(true);
  await rig.bridge.close();
  expect(rig.clock.pending).toBe(0);
});
