import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningProcess } from "../support/process.js";
import type { Answers } from "../support/sdk-peers.js";
import { bridgedBy, type Front } from "./bridged.js";
import {
  callTool,
  failure,
  firstText,
  type JsonObject,
  type ModernPeer,
  modernPeer,
  type Peer,
  wholeList,
} from "./peer.js";
import { type OldPlace, olderPeer } from "./revisions/client.js";
import type { OlderRevision } from "./revisions/content.js";
import { startOlderServer, upstreamOf } from "./revisions/start.js";

const ROOTS = [{ uri: "file:///tmp/one", name: "One" }];
const elicited: JsonObject[] = [];
const USER: Answers = {
  elicit: (params) => {
    elicited.push(params);
    return { action: "accept", content: { name: "Ada", size: "m", count: 2, sure: true } };
  },
  sample: ({ messages, maxTokens }) => ({
    role: "assistant",
    model: "test-model",
    stopReason: "endTurn",
    content: { type: "text", text: JSON.stringify({ messages, maxTokens }) },
  }),
  roots: ROOTS,
};

const CASES: readonly (readonly [OlderRevision, OldPlace["transport"], Front])[] = [
  ["2024-11-05", "stdio", "wrap"],
  ["2024-11-05", "stdio", "serve"],
  ["2024-11-05", "sse", "wrap"],
  ["2024-11-05", "sse", "serve"],
  ["2025-03-26", "stdio", "serve"],
  ["2025-03-26", "http", "wrap"],
  ["2025-03-26", "http", "serve"],
  ["2025-03-26", "sse", "serve"],
  ["2025-06-18", "stdio", "wrap"],
  ["2025-06-18", "http", "wrap"],
  ["2025-06-18", "http", "serve"],
  ["2025-06-18", "ws", "wrap"],
  ["2025-06-18", "ws", "serve"],
];

const running: RunningProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
});

describe.each(CASES)("a server of %s over %s through %s", (revision, transport, front) => {
  let modern: ModernPeer;
  let direct: Peer;

  beforeAll(async () => {
    const { place, process } = await startOlderServer(revision, transport);
    if (process !== undefined) running.push(process);
    direct = await olderPeer(revision, place, USER);
    modern = await modernPeer(await bridgedBy(front, upstreamOf(place), running), USER);
  });
  afterAll(async () => {
    await modern?.close();
    await direct?.close();
  });

  const same = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const through = await modern.request(method, params);
    expect(through).toEqual(await direct.request(method, params));
    return through;
  };

  test("the first call can be cancelled, and the server hears of it", async () => {
    const stop = new AbortController();
    const waiting = callTool(modern, "wait", {}, { signal: stop.signal });
    const outcome = failure(waiting);
    await callTool(modern, "echo", { message: "the wait has begun" });
    stop.abort("enough");
    await outcome;
    await expect
      .poll(async () => Number(firstText(await callTool(modern, "cancelled"))), { timeout: 5_000 })
      .toBeGreaterThan(0);
  });

  test("it speaks 2026-07-28 and has the name of the server", () => {
    expect(modern.client.getProtocolEra()).toBe("modern");
    expect(modern.client.getServerVersion()?.name).toBe(`server-of-${revision}`);
    const capabilities = { ...modern.client.getServerCapabilities() };
    expect(capabilities).toEqual({ tools: {}, resources: {}, prompts: {}, completions: {} });
  });

  test.each([
    ["tools/list", "tools"],
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
    ["prompts/list", "prompts"],
  ])("%s has the same items on the same pages", async (method, key) => {
    const through = await wholeList(modern, method, key);
    expect(through).toEqual(await wholeList(direct, method, key));
    expect(through.items.length).toBeGreaterThan(0);
  });

  test("a cursor that the server refuses is refused with its words", async () => {
    const through = await failure(modern.request("tools/list", { cursor: "nowhere" }));
    const straight = await failure(direct.request("tools/list", { cursor: "nowhere" }));
    expect(through.code).toBe(-32602);
    expect(straight.message).toContain(through.message.replace(/^MCP error -32602: /, ""));
  });

  test("tools answer as they do without a bridge", async () => {
    await same("tools/call", { name: "echo", arguments: { message: "héllo \u{1F30D} \ud800" } });
    await same("tools/call", { name: "arguments", arguments: { deep: [{ a: 1.5, b: null }] } });
    await same("tools/call", { name: "blocks" });
    await same("tools/call", { name: "fail" });
    if (revision !== "2024-11-05") await same("tools/call", { name: "annotated" });
    if (revision === "2025-06-18") {
      const result = await same("tools/call", { name: "structured", arguments: { city: "Oslo" } });
      expect(result["structuredContent"]).toEqual({ city: "Oslo", degrees: -1.5 });
    }
  });

  test("an unknown tool and an error of the server keep their meaning", async () => {
    expect((await failure(callTool(modern, "nothing"))).code).toBe(-32602);
    // -32050 is of the range that 2026-07-28 reserves for itself.
    const broken = await failure(callTool(modern, "break"));
    expect(broken.code).toBe(-32603);
    expect(broken.message).toContain("broken on purpose");
    expect(broken.data).toMatchObject({ originalCode: -32050 });
  });

  test("progress arrives in order, with messages since 2025-03-26", async () => {
    const seen: JsonObject[] = [];
    const options = { onprogress: (progress: JsonObject): void => void seen.push(progress) };
    expect(firstText(await callTool(modern, "progress", {}, options))).toBe("three steps");
    const message = (step: number): JsonObject =>
      revision === "2024-11-05" ? {} : { message: `step ${step}` };
    expect(seen).toEqual([1, 2, 3].map((n) => ({ progress: n, total: 3, ...message(n) })));
  });

  test("the client's roots and its model are asked in the middle of a call", async () => {
    const roots = await same("tools/call", { name: "roots" });
    expect(JSON.parse(firstText(roots))).toEqual({ roots: ROOTS });
    const sampled = await same("tools/call", { name: "sample", arguments: { question: "why?" } });
    expect(JSON.parse(firstText(sampled))).toMatchObject({
      role: "assistant",
      model: "test-model",
    });
    await same("prompts/get", { name: "asking" });
  });

  test("the user is asked by form twice since 2025-06-18", async () => {
    if (revision !== "2025-06-18") return;
    elicited.length = 0;
    await same("tools/call", { name: "form" });
    expect(elicited.map(({ message }) => message)).toEqual(["Who?", "Sure?", "Who?", "Sure?"]);
    expect(elicited[0]?.["requestedSchema"]).toEqual(elicited[2]?.["requestedSchema"]);
  });

  test("resources, prompts and completions are the same", async () => {
    await same("resources/read", { uri: "note:///2" });
    await same("resources/read", { uri: "note:///pixel" });
    await same("prompts/get", { name: "plain" });
    await same("prompts/get", { name: "travel", arguments: { city: "Oslo", by: "train" } });
    await same("completion/complete", {
      ref: { type: "ref/prompt", name: "travel" },
      argument: { name: "city", value: "P" },
      ...(revision === "2025-06-18" ? { context: { arguments: { by: "train" } } } : {}),
    });
  });

  test("a resource that is not there is an invalid parameter", async () => {
    const missing = await failure(modern.request("resources/read", { uri: "note:///99" }));
    expect(missing.code).toBe(-32602);
    expect(missing.message).toContain("Resource not found");
    expect(missing.data).toMatchObject({ uri: "note:///99" });
  });
});
