import { expect, test } from "vitest";
import { answer, createRig, type Heard, legacyServer, talkOn } from "./rig.js";

const question = (id: number): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "elicitation/create",
    params: { message: "?", requestedSchema: { type: "object", properties: {} } },
  });

const refused = (heard: readonly Heard[]): number =>
  heard.filter((message) => "error" in message).length;

test("a server that asks without end is refused beyond a number, and its call goes on", async () => {
  let call: number | undefined;
  const rig = createRig(
    legacyServer(({ id, method }, say) => {
      if (method === "tools/call") {
        call = id;
        for (let n = 1; n <= 50; n++) say(question(n));
      } else if (method === undefined && id === 5) say(answer(call, { content: [] }));
    }),
    { limits: { maxInFlightPerPrincipal: 15, maxParkedPerPrincipal: 5 } },
  );
  const first = rig.modern(1, "tools/call", { name: "ask" }, { elicitation: {} });
  await talkOn();
  await rig.clock.pass(100);
  const { result } = JSON.parse(first.body);
  expect(Object.keys(result.inputRequests)).toHaveLength(20);
  expect(refused(rig.heard)).toBe(30);
  // What is answered makes room again.
  const inputResponses = Object.fromEntries(
    Object.keys(result.inputRequests).map((key) => [key, { action: "decline" }]),
  );
  const params = { name: "ask", inputResponses, requestState: result.requestState };
  const second = rig.modern(2, "tools/call", params, { elicitation: {} });
  await talkOn();
  expect(JSON.parse(second.body)).toMatchObject({ id: 2, result: { resultType: "complete" } });
  rig.channels[0]?.says(question(99));
  await talkOn();
  expect(refused(rig.heard)).toBe(31);
  expect(JSON.stringify(rig.heard.at(-1))).toContain("only available during a call");
  await rig.bridge.close();
  expect(rig.clock.pending).toBe(0);
});
