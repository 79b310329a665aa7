import { createRequire } from "node:module";
import { afterEach, describe, expect, it } from "vitest";
import { createChildTarget } from "../../adapters/stdio/child.js";
import { createSystemClock } from "../../adapters/system/clock.js";
import { DEFAULT_LIMITS } from "../../src/index.js";
import { createUpstream, type Upstream } from "../../src/upstream/open-upstream.js";
import {
  callOf,
  createLegacyService,
  createModernService,
  type EraService,
} from "./era-fixtures.js";

const NEVER = new AbortController().signal;

/** A server of a few lines: `answer(message)` is what it does with each of its lines. */
function script(answer: string): readonly string[] {
  const program = `
    const say = (id, member) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...member }));
    const answer = ${answer};
    require("node:readline")
      .createInterface({ input: process.stdin })
      .on("line", (line) => answer(JSON.parse(line)));`;
  return ["-e", program];
}

const LEGACY = '({ id, method }) => say(id, { result: { of: "legacy " + method } })';
const EVERYTHING = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

let upstream: Upstream<EraService> | undefined;

afterEach(async () => {
  await upstream?.close();
});

function open(args: readonly string[], probeSilenceMs = 15_000) {
  let starts = 0;
  const verdicts: string[] = [];
  const child = createChildTarget({ command: process.execPath, args, name: "server" });
  upstream = createUpstream<EraService>({
    target: {
      ...child,
      open() {
        starts += 1;
        return child.open();
      },
    },
    identity: '{"name":"bridge","version":"1"}',
    probe: "in-place",
    legacy: createLegacyService,
    modern: ({ openLink }) => createModernService(openLink),
    clock: createSystemClock(),
    limits: { ...DEFAULT_LIMITS, probeSilenceMs },
    journal: {
      debug() {},
      info: (event, facts) => {
        if (event === "era-verdict") verdicts.push(`${facts?.["era"]}: ${facts?.["reason"]}`);
      },
      warn() {},
      error() {},
    },
  });
  const opened = upstream;
  return {
    verdicts,
    starts: () => starts,
    call: async () => {
      const outcome = await opened.relay(callOf("tools/list"), () => undefined, NEVER);
      return outcome.type === "complete" ? outcome.result : JSON.stringify(outcome);
    },
  };
}

describe("the era of a real child process", () => {
  it("is found on the one process of an official legacy server", async () => {
    const { call, starts, verdicts } = open([EVERYTHING, "stdio"]);
    expect(await call()).toContain('"tools"');
    expect(starts()).toBe(1);
    expect(verdicts).toEqual([expect.stringMatching(/^legacy: /)]);
  });

  it("is legacy for one that ends on the probe, after one more start", async () => {
    const { call, starts, verdicts } = open(
      script(`(m) => { if (m.method === "server/discover") process.exit(1); (${LEGACY})(m); }`),
    );
    expect(await call()).toBe('{"of":"legacy tools/list"}');
    expect(await call()).toBe('{"of":"legacy tools/list"}');
    expect(starts()).toBe(2);
    expect(verdicts).toHaveLength(1);
  });

  it("is legacy for one that ends on the probe in the middle of a line", async () => {
    const { call, starts } = open(
      script(
        `(m) => { if (m.method === "server/discover") { process.stdout.write('{"json', () => process.exit(1)); return; } (${LEGACY})(m); }`,
      ),
    );
    expect(await call()).toBe('{"of":"legacy tools/list"}');
    expect(starts()).toBe(2);
  });

  it("is legacy for one that swallows the probe, on the same process", async () => {
    const { call, starts, verdicts } = open(
      script(`(m) => { if (m.method !== "server/discover") (${LEGACY})(m); }`),
      300,
    );
    expect(await call()).toBe('{"of":"legacy tools/list"}');
    expect(starts()).toBe(1);
    expect(verdicts).toEqual(["legacy: answered initialize"]);
  });

  it("is modern for one that answers the probe and would end on initialize", async () => {
    const { call, starts, verdicts } = open(
      script(`({ id, method }) => {
        if (method === "initialize") process.exit(1);
        const discovered = { supportedVersions: ["2026-07-28"], capabilities: {} };
        say(id, { result: method === "server/discover" ? discovered : { of: "modern " + method } });
      }`),
    );
    expect(await call()).toBe('{"of":"modern tools/list"}');
    expect(starts()).toBe(1);
    expect(verdicts).toEqual(["modern: answered server/discover"]);
  });

  it("is modern for a slow one that ends on initialize, after one more start", async () => {
    const args = [
      "-e",
      `setTimeout(() => {
        const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
          const { id, method } = JSON.parse(line);
          if (method === "initialize") process.exit(1);
          if (method === "server/discover") {
            say(id, { supportedVersions: ["2026-07-28"], capabilities: {} });
          } else say(id, { of: "modern " + method });
        });
      }, 1_000);`,
    ];
    const { call, starts, verdicts } = open(args, 300);
    expect(await call()).toBe('{"of":"modern tools/list"}');
    expect(starts()).toBe(2);
    expect(verdicts).toEqual(["modern: answered server/discover"]);
  });

  it("stays unknown for one that crashes at once, and the caller is told so soon", async () => {
    const { call, starts, verdicts } = open(["-e", "process.exit(3)"]);
    const outcome = await call();
    expect(outcome).toContain("unavailable");
    expect(outcome).toContain("3");
    expect(starts()).toBe(2);
    expect(verdicts).toEqual([]);
  });
});
