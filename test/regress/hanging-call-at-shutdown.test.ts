import { expect, test } from "vitest";
import { createRig, legacyServer, talkOn } from "./rig.js";

test("a bridge that is closed does not wait for a call that has no end", async () => {
  const rig = createRig(legacyServer(() => undefined));
  const hanging = rig.modern(1, "tools/call", { name: "hang", arguments: {} });
  await talkOn();
  expect(rig.heard.at(-1)).toMatchObject({ method: "tools/call" });
  let closed = false;
  void rig.bridge.close().then(() => {
    closed = true;
  });
  await talkOn();
  expect(closed).toBe(true);
  expect(hanging.body).toContain("shutting down");
  expect(rig.heard.at(-1)).toMatchObject({ method: "notifications/cancelled" });
  expect(rig.channels.map(({ closes }) => closes)).toEqual([1]);
  expect(rig.clock.pending).toBe(0);
});
