import { afterAll, describe, expect, test } from "vitest";
import {
  type ChaosClient,
  createLegacyHttpClient,
  createLegacyStdioClient,
  createModernHttpClient,
  createModernStdioClient,
  type Ending,
} from "../support/chaos-clients.js";
import { createVictims, type Upstream, type Victim } from "../support/chaos-victims.js";
import { type RunningCli, runCli } from "../support/cli.js";
import { ENVELOPE } from "../support/raw-modern-client.js";
import { until } from "../support/until.js";

/** Longer runs by `ERABRIDGE_KILL_SECONDS`, one of them again by `ERABRIDGE_KILL_SEED`. */
const SECONDS = Number(process.env["ERABRIDGE_KILL_SECONDS"] ?? 1.5);
const SEED = Number(process.env["ERABRIDGE_KILL_SEED"] ?? Date.now() % 1_000_000);
const WORKERS = 6;
const FEWEST_BLOWS = 3;
/** No call takes longer than this, whatever dies. */
const BOUND_MS = 25_000;

const running: RunningCli[] = [];
const victims = createVictims();
afterAll(async () => {
  for (const cli of running) cli.child.kill("SIGKILL");
  await victims.close();
});

const QUICK = [
  // A question on a stream that is cut is lost where the server gives no event ids.
  ...["--request-timeout", "4s", "--limit", "turnWaitMs=4s"],
  ...["--limit", "restartPauseMs=20", "--limit", "restartPauseMaxMs=100"],
  ...["--limit", "resumePauseMs=30", "--limit", "resumePauseMaxMs=100"],
  ...["--limit", "sessionIdleMs=300", "--limit", "frontSessionIdleMs=400"],
  ...["--limit", "parkMs=5s", "--limit", "stopGraceMs=500"],
  ...["--limit", "attributionHoldMs=50"],
];

/** Mulberry32: small, and the same everywhere. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Report {
  readonly endings: readonly Ending[];
  readonly problems: readonly string[];
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), BOUND_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** What must never be, seen from one call. */
function problemOf(ending: Ending, key: string, runs: number): string | undefined {
  if (runs > 1) return `ran ${runs} times`;
  if (ending.type === "answered") {
    if (ending.text !== key) return `got the answer ${ending.text}`;
    return runs === 0 ? "was answered and never ran" : undefined;
  }
  if (ending.reason === "" || ending.reason === "internal") {
    return `failed without a reason: ${JSON.stringify(ending)}`;
  }
  const ranInSecret = ending.reason === "upstream-unavailable" && runs > 0;
  return ranInSecret ? `ran, and was said not to have been sent: ${ending.message}` : undefined;
}

/** Calls without pause from several sides until the time is over, while the server is hurt. */
async function storm(client: ChaosClient, victim: Victim, random: () => number): Promise<Report> {
  const endings: Ending[] = [];
  const problems: string[] = [];
  const start = Date.now();
  let serial = 0;
  let answered = 0;
  let blows = 0;
  /** The time is over, and it was enough for something to happen; or there is no end to it. */
  const isOver = (): boolean => {
    const ms = Date.now() - start;
    return (ms > SECONDS * 1_000 && blows >= FEWEST_BLOWS) || ms > SECONDS * 1_000 + BOUND_MS;
  };

  const one = async (): Promise<void> => {
    const key = `k${++serial}`;
    const tool = random() < 0.3 ? "ask" : "work";
    try {
      const ending = await inTime(client.call(tool, key, random() * 60));
      endings.push(ending);
      if (ending.type === "answered") answered += 1;
      const problem = problemOf(ending, key, victim.runs().get(key) ?? 0);
      if (problem !== undefined) problems.push(`${key} (${tool}) ${problem}`);
    } catch (error) {
      problems.push(`${key} (${tool}): ${error}`);
    }
  };
  const worker = async (): Promise<void> => {
    while (!isOver()) {
      await one();
      // A server that is down refuses at once.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const killer = async (): Promise<void> => {
    while (!isOver()) {
      const before = answered;
      await new Promise((resolve) => setTimeout(resolve, 60 + random() * 240));
      // A slow machine needs longer to come to itself between two blows.
      await until(
        () => answered > before || isOver(),
        (ready) => ready,
        SECONDS * 1_000 + 2 * BOUND_MS,
      );
      victim.hurt(random);
      blows += 1;
    }
  };
  await Promise.all([killer(), ...Array.from({ length: WORKERS }, worker)]);
  for (const [key, count] of victim.runs())
    if (count > 1) problems.push(`${key} ran ${count} times`);
  return { endings, problems };
}

async function gaugesOf(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${new URL(url).origin}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^erabridge_(\w+)\{upstream="[^"]*"\} (\d+)$/gm)].map(
      ([, name = "", value]) => [name, Number(value)],
    ),
  );
}

/** Nothing is left, some time after the last call; and the process goes at once when it is told to. */
async function expectNothingLeft(
  cli: RunningCli,
  url: string | undefined,
  victim: Victim,
): Promise<void> {
  if (url !== undefined) {
    const left = async () => Object.entries(await gaugesOf(url)).filter(([, count]) => count > 0);
    await until(left, ({ length }) => length === 0);
    cli.child.kill("SIGTERM");
  }
  const since = Date.now();
  expect(await cli.exit).toBe(0);
  expect(Date.now() - since).toBeLessThan(5_000);
  expect(victim.alive()).toEqual([]);
  await until(
    () => victim.sessions,
    (count) => count === 0,
  );
}

/** What is well again answers, if not at the first attempt. */
async function expectToWork(client: ChaosClient): Promise<void> {
  const ending = await until(
    () => client.call("work", "last", 0),
    ({ type }) => type === "answered",
    BOUND_MS,
  );
  expect(ending).toEqual({ type: "answered", text: "last" });
}

const start = (command: "wrap" | "serve", target: readonly string[]): RunningCli => {
  const port = command === "serve" ? ["--port", "0"] : [];
  const cli = runCli([command, ...port, ...QUICK, "--", ...target]);
  running.push(cli);
  return cli;
};

async function startServe(target: readonly string[]) {
  const cli = start("serve", target);
  const [, url = ""] = await cli.see("out", /^erabridge serving (\S+)\n/);
  return { cli, url };
}

type Front = "modern http" | "modern stdio" | "legacy http" | "legacy stdio";

async function connect(front: Front, target: readonly string[]) {
  if (front === "modern stdio" || front === "legacy stdio") {
    const cli = start("wrap", target);
    const client =
      front === "modern stdio" ? createModernStdioClient(cli) : await createLegacyStdioClient(cli);
    return { cli, client, url: undefined };
  }
  const { cli, url } = await startServe(target);
  const client =
    front === "modern http" ? createModernHttpClient(url) : await createLegacyHttpClient(url);
  return { cli, client, url };
}

const CELLS: readonly (readonly [Front, Upstream])[] = [
  ["modern http", "legacy stdio"],
  ["modern http", "legacy json"],
  ["modern http", "legacy events"],
  ["modern http", "legacy events-with-ids"],
  ["modern http", "legacy one-stream"],
  ["modern http", "modern events"],
  ["modern stdio", "legacy stdio"],
  ["legacy http", "legacy stdio"],
  ["legacy http", "legacy events-with-ids"],
  ["legacy http", "modern json"],
  ["legacy stdio", "modern stdio"],
];

/** Asks the bridge directly, for rounds that a chaos client would make by itself. */
async function round(url: string, params: object): Promise<Record<string, unknown>> {
  const _meta = {
    ...ENVELOPE,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "ask",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "ask", arguments: { key: "parked" }, ...params, _meta },
    }),
  });
  return JSON.parse((await response.text()).replace(/^[^{]*/, ""));
}

describe.concurrent("a server that is killed while its question is at the client", () => {
  test.each<Upstream>([
    "legacy stdio",
    "legacy json",
    "legacy events",
    "legacy events-with-ids",
    "legacy one-stream",
  ])(
    "%s: the client is told that the call is lost, and the tool does not run again",
    async (upstream) => {
      const victim = await victims.start(upstream);
      const { cli, url } = await startServe(victim.target);
      const { result } = await round(url, {});
      const { inputRequests, requestState } = result as {
        inputRequests: object;
        requestState: string;
      };
      await victim.kill();
      const keys = Object.keys(inputRequests);
      const accepted = { action: "accept", content: { ok: true } };
      const inputResponses = Object.fromEntries(keys.map((key) => [key, accepted]));
      await until(
        async () => (await gaugesOf(url))["parked"],
        (count) => count === 0,
      );
      expect(await round(url, { inputResponses, requestState })).toMatchObject({
        error: { code: -32602, data: { reason: "lost" } },
      });
      expect(victim.runs().get("parked")).toBe(1);
      const client = createModernHttpClient(url);
      await expectToWork(client);
      await client.close();
      await expectNothingLeft(cli, url, victim);
    },
  );
});

describe.concurrent(`a server that is killed again and again, seed ${SEED}`, () => {
  test.each(CELLS)(
    "%s before %s: each call ends once, no tool runs twice, nothing is left",
    async (front, upstream) => {
      const random = createRandom(SEED);
      const victim = await victims.start(upstream);
      const { cli, client, url } = await connect(front, victim.target);
      const { endings, problems } = await storm(client, victim, random);
      expect(problems, cli.err()).toEqual([]);
      expect(client.strays).toEqual([]);
      expect(endings.some(({ type }) => type === "answered")).toBe(true);
      await victim.heal();
      // A connection that is cut may have carried the word that opens or ends a session.
      await victim.kill();
      await expectToWork(client);
      await client.close();
      await expectNothingLeft(cli, url, victim);
    },
    120_000 + SECONDS * 1_000,
  );
});
