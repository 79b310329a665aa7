import { expect, test } from "vitest";
import { createRig, legacyServer, type Rig, talkOn } from "./rig.js";

async function openSession(rig: Rig): Promise<Record<string, string>> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  };
  const opened = rig.legacy({ id: 0, method: "initialize", params });
  await talkOn();
  const session = { "mcp-session-id": opened.headers["mcp-session-id"] ?? "" };
  rig.legacy({ method: "notifications/initialized" }, session);
  await talkOn();
  return session;
}

const HANG = { id: 1, method: "tools/call", params: { name: "hang" } };

test("calls of legacy clients that a bridge does not finish get an error", async () => {
  const rig = createRig(legacyServer(() => undefined));
  const reply = rig.legacy(HANG, await openSession(rig));
  await talkOn();
  await rig.bridge.close();
  expect(JSON.parse(reply.body)).toMatchObject({ id: 1, error: { data: { reason: "closed" } } });
  expect(rig.clock.pending).toBe(0);
});

test("calls of a session that its client ended get nothing", async () => {
  const rig = createRig(legacyServer(() => undefined));
  const session = await openSession(rig);
  const reply = rig.legacy(HANG, session);
  await talkOn();
  rig.http({ method: "DELETE", headers: session });
  await talkOn();
  expect(reply.body).not.toContain('"id":1');
  expect(rig.heard.at(-1)).toMatchObject({ method: "notifications/cancelled" });
  await rig.bridge.close();
});

test("a bridge that is drained twice waits once", async () => {
  const rig = createRig(legacyServer(() => undefined));
  rig.modern(1, "tools/call", { name: "hang" });
  await talkOn();
  const first = rig.bridge.drain();
  await rig.clock.pass(10_000);
  await first;
  let again = false;
  void rig.bridge.drain().then(() => {
    again = true;
  });
  await talkOn();
  expect(again).toBe(true);
  await rig.bridge.close();
  expect(rig.clock.pending).toBe(0);
});
