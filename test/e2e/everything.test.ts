import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CLI,
  EVERYTHING,
  type RunningProcess,
  startEverythingHttp,
  startServe,
} from "../support/process.js";
import {
  type Answers,
  connectLegacy,
  connectModern,
  type Place,
  withoutEraFields,
} from "../support/sdk-peers.js";

const USER: Answers = {
  elicit: () => ({ action: "accept", content: { name: "Ada", check: true, integer: 7 } }),
  sample: () => ({
    role: "assistant",
    model: "test-model",
    content: { type: "text", text: "sampled answer" },
  }),
  roots: [
    { uri: "file:///tmp/one", name: "One" },
    { uri: "file:///tmp/two", name: "Two" },
  ],
};

type Modern = Awaited<ReturnType<typeof connectModern>>;
type Legacy = Awaited<ReturnType<typeof connectLegacy>>;

const STDIO = [process.execPath, EVERYTHING, "stdio"];
const running: RunningProcess[] = [];
let httpUrl = "";

beforeAll(async () => {
  const everything = await startEverythingHttp();
  running.push(everything.process);
  httpUrl = everything.url;
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
});

const wrap = (...upstream: readonly string[]): Place => ({
  command: [process.execPath, CLI, "wrap", "--", ...upstream],
});
const serve = async (...upstream: readonly string[]): Promise<Place> => {
  const bridge = await startServe(upstream);
  running.push(bridge.process);
  return { url: bridge.url };
};

describe.each([
  ["serve in front of stdio", () => serve(...STDIO), () => ({ command: STDIO })],
  ["serve in front of Streamable HTTP", () => serve(httpUrl), () => ({ url: httpUrl })],
  ["wrap around stdio", async () => wrap(...STDIO), () => ({ command: STDIO })],
  ["wrap around Streamable HTTP", async () => wrap(httpUrl), () => ({ url: httpUrl })],
] as const)("server-everything through %s", (_name, bridged, direct) => {
  let modern: Modern;
  let legacy: Legacy;

  beforeAll(async () => {
    modern = await connectModern(await bridged(), USER);
    legacy = await connectLegacy(direct(), USER);
  });
  afterAll(async () => {
    await modern?.close();
    await legacy?.close();
  });

  const both = async (name: string, args: Record<string, unknown> = {}): Promise<void> => {
    const [through, straight] = [
      await modern.callTool({ name, arguments: args }),
      await legacy.callTool({ name, arguments: args }),
    ];
    expect(withoutEraFields(through)).toEqual(withoutEraFields(straight));
  };

  test("the client speaks 2026-07-28 with it", () => {
    expect(modern.getProtocolEra()).toBe("modern");
    expect(modern.getServerVersion()?.name).toBe(legacy.getServerVersion()?.name);
    expect(modern.getInstructions()).toBe(legacy.getInstructions());
  });

  test("the lists are those of a direct legacy run", async () => {
    expect(withoutEraFields(await modern.listTools())).toEqual(
      withoutEraFields(await legacy.listTools()),
    );
    expect(withoutEraFields(await modern.listPrompts())).toEqual(
      withoutEraFields(await legacy.listPrompts()),
    );
    expect(withoutEraFields(await modern.listResources())).toEqual(
      withoutEraFields(await legacy.listResources()),
    );
    expect(withoutEraFields(await modern.listResourceTemplates())).toEqual(
      withoutEraFields(await legacy.listResourceTemplates()),
    );
  });

  test("echo, sum, structured content, images and links", async () => {
    await both("echo", { message: "héllo \u{1F30D}" });
    await both("get-sum", { a: 2, b: 40 });
    await both("get-structured-content", { location: "New York" });
    await both("get-tiny-image");
    await both("get-resource-links", { count: 3 });
    await both("get-annotated-message", { messageType: "success", includeImage: true });
  });

  // The server asks for roots as soon as it is initialized; the question rides on the first call that
  // comes late enough, so this one goes first.
  test("the roots list is the client's", () => both("get-roots-list"));

  test("the long-running operation reports its progress", async () => {
    const seen: number[] = [];
    const result = await modern.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 0.4, steps: 4 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    // The client drops what arrives in one piece with the result.
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen).toEqual([1, 2, 3, 4].slice(0, seen.length));
    expect(result.content).toEqual([
      {
        type: "text",
        text: "Long running operation completed. Duration: 0.4 seconds, Steps: 4.",
      },
    ]);
  });

  test("elicitation reaches the user and comes back", () => both("trigger-elicitation-request"));

  test("sampling reaches the model and comes back", () =>
    both("trigger-sampling-request", { prompt: "hi", maxTokens: 10 }));

  test("resources, prompts and completions", async () => {
    const { resources } = await legacy.listResources();
    const uri = resources[0]?.uri ?? "";
    expect(withoutEraFields(await modern.readResource({ uri }))).toEqual(
      withoutEraFields(await legacy.readResource({ uri })),
    );
    const prompt = { name: "args-prompt", arguments: { city: "Paris", state: "TX" } };
    expect(withoutEraFields(await modern.getPrompt(prompt))).toEqual(
      withoutEraFields(await legacy.getPrompt(prompt)),
    );
    const completion = {
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "E" },
    } as const;
    expect(withoutEraFields(await modern.complete(completion))).toEqual(
      withoutEraFields(await legacy.complete(completion)),
    );
  });

  test("an unknown tool and an unknown resource fail as they do directly", async () => {
    await both("no-such-tool");
    await expect(modern.readResource({ uri: "demo://nowhere" })).rejects.toMatchObject({
      code: -32602,
    });
  });
});
