import { expect, onTestFinished, test } from "vitest";
import { answer, createRig, legacyServer, talkOn } from "./rig.js";

/** What Node says about leaks while the test runs. */
function warnings(): readonly string[] {
  const seen: string[] = [];
  const note = ({ name }: Error): void => void seen.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  return seen;
}

test("many sessions that are opened at once look like no leak", async () => {
  const seen = warnings();
  const rig = createRig(
    legacyServer(({ id, method }, say) => {
      if (method === "tools/call") say(answer(id, { content: [] }));
    }),
    { sessionPolicy: "per-call" },
  );
  // Finds the era, so that the calls need not.
  rig.modern(0, "tools/list", {});
  await talkOn();
  const replies = Array.from({ length: 30 }, (_, id) =>
    rig.modern(id, "tools/call", { name: "x" }),
  );
  await talkOn();
  for (const reply of replies) expect(reply.body).toContain('"resultType":"complete"');
  expect(rig.channels.length).toBeGreaterThan(30);
  expect(seen).toEqual([]);
  await rig.bridge.close();
});
