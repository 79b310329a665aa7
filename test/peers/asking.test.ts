import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningProcess } from "../support/process.js";
import type { Answers, Place } from "../support/sdk-peers.js";
import { bridgedBy } from "./bridged.js";
import { callTool, failure, firstText, type JsonObject, modernPeer } from "./peer.js";
import type { OlderRevision } from "./revisions/content.js";
import { startOlderServer, upstreamOf } from "./revisions/start.js";

const running: RunningProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
});

async function placeOf(
  revision: OlderRevision,
  transport: "stdio" | "http" | "sse",
): Promise<Place> {
  const { place, process } = await startOlderServer(revision, transport);
  if (process !== undefined) running.push(process);
  return await bridgedBy("serve", upstreamOf(place), running);
}

async function asking<Result>(
  place: Place,
  answers: Answers,
  use: (call: (name: string, args?: JsonObject) => Promise<JsonObject>) => Promise<Result>,
): Promise<Result> {
  const peer = await modernPeer(place, answers);
  try {
    return await use((name, args) => callTool(peer, name, args));
  } finally {
    await peer.close();
  }
}

const answering = (content: unknown): Answers => ({
  sample: () => ({ role: "assistant", model: "m", stopReason: "endTurn", content }),
});

describe.each([
  ["2024-11-05", "stdio"],
  ["2024-11-05", "sse"],
  ["2025-03-26", "http"],
  ["2025-06-18", "http"],
] as const)("a question of a server of %s over %s", (revision, transport) => {
  let place: Place;
  beforeAll(async () => {
    place = await placeOf(revision, transport);
  });

  const sampled = (answers: Answers): Promise<JsonObject> =>
    asking(place, answers, (call) => call("sample", { question: "why?" }));

  test("gets a list of one block as that block", async () => {
    const result = await sampled(answering([{ type: "text", text: "because" }]));
    expect(JSON.parse(firstText(result))).toEqual({
      role: "assistant",
      model: "m",
      stopReason: "endTurn",
      content: { type: "text", text: "because" },
    });
  });

  test("gets several texts as one", async () => {
    const blocks = ["be", "cause"].map((text) => ({ type: "text", text }));
    const { content } = JSON.parse(firstText(await sampled(answering(blocks))));
    expect(content).toMatchObject({ type: "text" });
    expect(content.text.replaceAll(/\s/g, "")).toBe("because");
  });

  test("never gets a list that it cannot read", async () => {
    const blocks = [
      { type: "text", text: "a" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ];
    // The server learns that there is no answer, and says so in its own.
    const { message } = await failure(sampled(answering(blocks)));
    expect(message).not.toMatch(/invalid_type|invalid_union|zod/i);
  });

  test("is not sent to a client that declared nothing", async () => {
    const asked = await failure(sampled({}));
    expect(asked.code).toBe(-32021);
    expect(asked.data).toMatchObject({ requiredCapabilities: { sampling: {} } });
  });
});

describe.each(["stdio", "http"] as const)("a server of 2025-06-18 over %s", (transport) => {
  let place: Place;
  beforeAll(async () => {
    place = await placeOf("2025-06-18", transport);
  });
  const elicited: JsonObject[] = [];
  const elicit = (params: JsonObject): JsonObject => {
    elicited.push(params);
    return { action: "decline" };
  };

  test("is told of no elicitation by a client that only opens URLs", async () => {
    elicited.length = 0;
    const answers: Answers = { elicit, elicitModes: { url: {} } };
    await asking(place, answers, async (call) => {
      expect(firstText(await call("form"))).toBe("there is nobody to ask");
      expect(JSON.parse(firstText(await call("capabilities")))).not.toHaveProperty("elicitation");
    });
    expect(elicited).toEqual([]);
  });

  test("asks a client that knows both modes by form", async () => {
    elicited.length = 0;
    const answers: Answers = { elicit, elicitModes: { form: {}, url: {} } };
    const result = await asking(place, answers, (call) => call("form"));
    expect(JSON.parse(firstText(result))).toEqual([{ action: "decline" }, { action: "decline" }]);
    expect(elicited).toHaveLength(2);
  });

  test("keeps clients of different capabilities apart at the same time", async () => {
    const both = await Promise.all([
      asking(place, { elicit, elicitModes: { url: {} } }, (call) => call("form")),
      asking(place, { elicit }, (call) => call("form")),
      asking(place, {}, (call) => call("form")),
    ]);
    expect(both.map(firstText)).toEqual([
      "there is nobody to ask",
      '[{"action":"decline"},{"action":"decline"}]',
      "there is nobody to ask",
    ]);
  });
});
