import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type RunningProcess, startProcess } from "../../support/process.js";
import type { Answers, Place } from "../../support/sdk-peers.js";
import { bridgedBy, type Front } from "../bridged.js";
import {
  callTool,
  firstText,
  type JsonObject,
  legacyPeer,
  modernPeer,
  type Peer,
  wholeList,
} from "../peer.js";
import { buildGo, buildJava, buildPython, buildRust, type PeerCommand } from "./build.js";

const ON = process.env["ERABRIDGE_POLYGLOT"] === "1";
const BUILD_MS = 900_000;

const USER: Answers = {
  elicit: () => ({ action: "accept", content: { name: "Ada" } }),
  sample: ({ messages }) => ({
    role: "assistant",
    model: "test-model",
    content: { type: "text", text: `sampled ${JSON.stringify(messages)}` },
  }),
  roots: [{ uri: "file:///tmp/one", name: "One" }, { uri: "file:///tmp/two" }],
};

type Transport = "stdio" | "http";

interface Case {
  readonly name: string;
  readonly build: () => Promise<PeerCommand>;
  readonly era: "legacy" | "modern";
  readonly ways: readonly (readonly [Transport, Front])[];
  /** What the SDK of this server cannot do. */
  readonly without?: readonly ("ask" | "sample" | "roots" | "progress" | "cancel")[];
}

const BOTH: Case["ways"] = [
  ["stdio", "wrap"],
  ["http", "serve"],
];
const PIPE: Case["ways"] = [
  ["stdio", "wrap"],
  ["stdio", "serve"],
];

const CASES: readonly Case[] = [
  {
    name: "Python SDK 1.30",
    era: "legacy",
    build: () => buildPython("legacy", "legacy_server.py"),
    ways: BOTH,
  },
  {
    name: "Python SDK 2.3",
    era: "modern",
    build: () => buildPython("modern", "modern_server.py"),
    ways: BOTH,
  },
  { name: "Go SDK 1.6", era: "legacy", build: () => buildGo("legacy"), ways: BOTH },
  {
    name: "Go SDK 1.8",
    era: "modern",
    build: () => buildGo("modern"),
    ways: [["stdio", "wrap"]],
  },
  {
    name: "Go SDK 1.8 without sessions",
    era: "modern",
    build: () => buildGo("modern"),
    ways: [["http", "serve"]],
    // Its handlers do not hear of a stream that was closed.
    without: ["cancel"],
  },
  // With sessions it answers the probe, and lists only revisions that have them.
  {
    name: "Go SDK 1.8 with sessions",
    era: "legacy",
    build: async () => [...(await buildGo("modern")), "sessions"],
    ways: [["http", "serve"]],
  },
  // This one exits when the first message is not `initialize`.
  { name: "Rust SDK 2.2", era: "legacy", build: () => buildRust("legacy"), ways: PIPE },
  { name: "Rust SDK 3.11", era: "modern", build: () => buildRust("modern"), ways: PIPE },
  {
    name: "Java SDK 2.1",
    era: "legacy",
    build: buildJava,
    ways: BOTH,
    // It takes no notice of cancellations.
    without: ["cancel"],
  },
];

const built = new Map<string, Promise<PeerCommand>>();

function commandOf({ name, build }: Case): Promise<PeerCommand> {
  const command = built.get(name) ?? build();
  built.set(name, command);
  return command;
}

const running: RunningProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
});

async function started(command: PeerCommand, transport: Transport): Promise<Place> {
  const [program = "", ...args] = [...command, transport];
  if (transport === "stdio") return { command: [program, ...args] };
  const process = startProcess(program, args);
  running.push(process);
  const [url = ""] = await process.waitFor(/http:\/\/\S+/);
  await vi.waitFor(() => fetch(url), { timeout: 20_000, interval: 100 });
  return { url };
}

const upstreamOf = (place: Place): readonly string[] =>
  "url" in place ? [place.url] : place.command;

const WAYS = CASES.flatMap((one) =>
  one.ways.map(([transport, front]) => {
    const title = `a ${one.era} server on the ${one.name} over ${transport} through ${front}`;
    return [title, { ...one, transport, front }] as const;
  }),
);

/** Slow, and in need of four toolchains and their package registries. */
describe.skipIf(!ON).each(WAYS)(
  "ERABRIDGE_POLYGLOT=1: %s",
  (_title, { transport, front, ...peer }) => {
    const { era, without = [] } = peer;
    let through: Peer;
    let direct: Peer;

    beforeAll(async () => {
      const place = await started(await commandOf(peer), transport);
      const bridge = await bridgedBy(front, upstreamOf(place), running);
      // Each server is reached directly by a client of its own era, and across by the other.
      const [own, other] = era === "legacy" ? [legacyPeer, modernPeer] : [modernPeer, legacyPeer];
      direct = await own(place, USER);
      through = await other(bridge, USER);
    }, BUILD_MS);
    afterAll(async () => {
      await through?.close();
      await direct?.close();
    });

    const same = async (method: string, params: JsonObject): Promise<JsonObject> => {
      const across = await through.request(method, params);
      expect(across).toEqual(await direct.request(method, params));
      return across;
    };
    const sameCall = async (name: string, args: JsonObject = {}): Promise<string> =>
      firstText(await same("tools/call", { name, arguments: args }));

    test.each([
      ["tools/list", "tools"],
      ["resources/list", "resources"],
      ["resources/templates/list", "resourceTemplates"],
      ["prompts/list", "prompts"],
    ])("%s is the same", async (method, key) => {
      const across = await wholeList(through, method, key);
      expect(across).toEqual(await wholeList(direct, method, key));
      expect(across.items.length).toBeGreaterThan(0);
    });

    test("tools, prompts and resources answer the same", async () => {
      expect(await sameCall("echo", { message: "héllo \u{1F30D}" })).toBe("echo: héllo \u{1F30D}");
      // Some SDKs keep the words of a failed tool to themselves.
      expect(await same("tools/call", { name: "fail", arguments: {} })).toHaveProperty(
        "isError",
        true,
      );
      await same("prompts/get", { name: "greet", arguments: { name: "Ada" } });
      await same("resources/read", { uri: "note:///one" });
      await same("resources/read", { uri: "note:///by/Ada" });
    });

    test.skipIf(without.includes("ask"))("the user is asked", async () => {
      expect(await sameCall("ask")).toBe("accept Ada");
    });

    test.skipIf(without.includes("sample"))("the model is asked", async () => {
      expect(await sameCall("sample", { question: "why?" })).toMatch(/^assistant: sampled .*why/);
    });

    test.skipIf(without.includes("roots"))("the roots are asked for", async () => {
      expect(await sameCall("roots")).toBe("file:///tmp/one,file:///tmp/two");
    });

    test.skipIf(without.includes("progress"))("progress arrives in order", async () => {
      const seen: JsonObject[] = [];
      await callTool(through, "progress", {}, { onprogress: (step) => void seen.push(step) });
      expect(seen).toEqual(
        [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })),
      );
    });

    test.skipIf(without.includes("cancel"))("a cancelled call ends at the server", async () => {
      const count = async (): Promise<number> =>
        Number(firstText(await callTool(through, "cancelled")));
      const before = await count();
      const stop = new AbortController();
      const outcome = callTool(through, "wait", {}, { signal: stop.signal }).then(
        () => "answered",
        () => "cancelled",
      );
      await callTool(through, "echo", { message: "the wait has begun" });
      stop.abort("enough");
      expect(await outcome).toBe("cancelled");
      await expect.poll(count, { timeout: 5_000 }).toBe(before + 1);
    });
  },
);
