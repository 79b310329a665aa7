import { Pool } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { type ChaosServer, startChaosServer } from "../support/chaos-http-server.js";
import { type RunningCli, runCli } from "../support/cli.js";
import { ENVELOPE } from "../support/raw-modern-client.js";
import { until } from "../support/until.js";

/** Times as many clients by `ERABRIDGE_LEFTOVERS`. */
const FACTOR = Number(process.env["ERABRIDGE_LEFTOVERS"] ?? 1);
const AT_ONCE = 50;
/** What the heap may be larger by than it was after the first clients: caches, code, and chance. */
const GROWTH_BYTES = 12 * 1024 * 1024;

const running: RunningCli[] = [];
const servers: ChaosServer[] = [];
afterAll(async () => {
  for (const cli of running) cli.child.kill("SIGKILL");
  await Promise.all(servers.map((server) => server.close()));
});

/** On SIGUSR2 the bridge collects its garbage and says how large its heap is. */
const PRELOAD = `import v8 from "node:v8"; import vm from "node:vm";
v8.setFlagsFromString("--expose_gc");
const gc = vm.runInNewContext("gc");
process.on("SIGUSR2", () => { gc(); gc(); process.stderr.write("heap " + process.memoryUsage().heapUsed + "\\n"); });`;

interface Subject {
  readonly url: string;
  readonly server: ChaosServer;
  readonly pool: Pool;
  gauges(): Promise<Record<string, number>>;
  /** Bytes in use after a collection. */
  heap(): Promise<number>;
  /** Resolves when nothing is left on either side. */
  empty(): Promise<unknown>;
}

async function subject(era: "legacy" | "modern"): Promise<Subject> {
  const server = await startChaosServer({ era, answers: "events" });
  servers.push(server);
  const limits = [
    ["sessionIdleMs", "500"],
    ["frontSessionIdleMs", "500"],
    ["parkMs", "1500"],
    ["maxParkedPerPrincipal", "10000"],
    ["replayMs", "1000"],
    ["attributionHoldMs", "20"],
  ].flatMap(([name, value]) => ["--limit", `${name}=${value}`]);
  const args = ["serve", "--port", "0", "--log-level", "warn", ...limits, server.url];
  const cli = runCli(args, {
    NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(PRELOAD)}"`,
  });
  running.push(cli);
  const [, url = ""] = await cli.see("out", /^erabridge serving (\S+)\n/);
  const gauges = async (): Promise<Record<string, number>> => {
    const text = await (await fetch(`${new URL(url).origin}/metrics`)).text();
    const found = text.matchAll(/^erabridge_(\w+)\{upstream="[^"]*"\} (\d+)$/gm);
    return Object.fromEntries([...found].map(([, name = "", value]) => [name, Number(value)]));
  };
  let collections = 0;
  return {
    url,
    server,
    pool: new Pool(new URL(url).origin, { connections: AT_ONCE }),
    gauges,
    async heap() {
      collections += 1;
      cli.child.kill("SIGUSR2");
      const seen = await until(
        () => [...cli.err().matchAll(/^heap (\d+)$/gm)],
        ({ length }) => length === collections,
      );
      return Number(seen.at(-1)?.[1]);
    },
    empty: () =>
      until(
        async () => ({ ...(await gauges()), streams: server.streams, atServer: server.sessions }),
        (all) => Object.values(all).every((value) => value === 0),
        30_000,
      ),
  };
}

/** Runs one client after the other, some at once. */
async function crowd(count: number, client: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await client(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "vanishing", version: "1" },
  },
});
const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

/** Opens a session and is never seen again. Some listen before they go, some do not even wait for it. */
async function legacyClient({ pool }: Subject, index: number): Promise<void> {
  const path = "/mcp";
  if (index % 4 === 3) {
    const signal = AbortSignal.timeout(index % 10);
    await pool
      .request({ method: "POST", path, headers: HEADERS, body: INITIALIZE, signal })
      .then(({ body }) => body.dump())
      .catch(() => undefined);
    return;
  }
  const opened = await pool.request({ method: "POST", path, headers: HEADERS, body: INITIALIZE });
  const session = String(opened.headers["mcp-session-id"]);
  await opened.body.dump();
  const headers = { ...HEADERS, "mcp-session-id": session };
  const told = await pool.request({ method: "POST", path, headers, body: INITIALIZED });
  await told.body.dump();
  if (index % 2 === 0) return;
  const gone = new AbortController();
  const listening = await pool.request({ method: "GET", path, headers, signal: gone.signal });
  listening.body.on("error", () => undefined);
  gone.abort();
}

function modernRequest({ pool }: Subject, method: string, params: object, gone?: AbortController) {
  const _meta = {
    ...ENVELOPE,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const { name } = params as { name?: string };
  return pool.request({
    method: "POST",
    path: "/mcp",
    headers: {
      ...HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    ...(gone === undefined ? {} : { signal: gone.signal }),
  });
}

/** Listens until the subscription stands, and goes. */
async function listeningClient(to: Subject): Promise<void> {
  const gone = new AbortController();
  const notifications = { toolsListChanged: true };
  const { body } = await modernRequest(to, "subscriptions/listen", { notifications }, gone);
  body.on("error", () => undefined);
  for await (const chunk of body) {
    if (String(chunk).includes("acknowledged")) break;
  }
  gone.abort();
}

/** Is asked something and does not come back. */
async function askedClient(to: Subject, index: number): Promise<void> {
  const params = { name: "ask", arguments: { key: `k${index}` } };
  const { body } = await modernRequest(to, "tools/call", params);
  const text = await body.text();
  if (!text.includes("input_required")) throw new Error(`not asked: ${text}`);
}

interface Kind {
  readonly name: string;
  readonly era: "legacy" | "modern";
  readonly count: number;
  readonly client: (to: Subject, index: number) => Promise<void>;
}

const KINDS: readonly Kind[] = [
  { name: "legacy clients that open a session", era: "legacy", count: 400, client: legacyClient },
  { name: "legacy clients that open a session", era: "modern", count: 2_000, client: legacyClient },
  { name: "modern clients that listen", era: "legacy", count: 2_000, client: listeningClient },
  { name: "modern clients that listen", era: "modern", count: 2_000, client: listeningClient },
  { name: "modern clients that are asked", era: "legacy", count: 500, client: askedClient },
];

describe("clients that vanish", () => {
  test.each(KINDS)(
    "$name before a $era server leave nothing",
    async (kind) => {
      const { era, count, client } = kind;
      const to = await subject(era);
      await crowd(200, (index) => client(to, index));
      await to.empty();
      const before = await to.heap();
      await crowd(count * FACTOR, (index) => client(to, index));
      await to.empty();
      const after = await to.heap();
      expect(after - before, `${before} bytes grew to ${after}`).toBeLessThan(GROWTH_BYTES);
      await to.pool.destroy();
    },
    120_000,
  );
});
