// rules: cancellation
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { type ChaosServer, startChaosServer } from "../support/chaos-http-server.js";
import { type RunningCli, runCli } from "../support/cli.js";
import { type RunningProcess, startProcess } from "../support/process.js";
import { ENVELOPE } from "../support/raw-modern-client.js";
import { until } from "../support/until.js";

const SERVER = fileURLToPath(new URL("../support/watchful-server.mjs", import.meta.url));
const CHILD = fileURLToPath(new URL("../support/chaos-child.mjs", import.meta.url));

/** On an idle machine it takes some milliseconds; nothing in the bridge waits this long. */
const SOON_MS = 2_000;

const folder = mkdtempSync(join(tmpdir(), "erabridge-cancel-"));
const clis: RunningCli[] = [];
const processes: RunningProcess[] = [];
const chaos: ChaosServer[] = [];
afterAll(async () => {
  for (const cli of clis) cli.child.kill("SIGKILL");
  await Promise.all(processes.map((each) => each.stop()));
  await Promise.all(chaos.map((each) => each.close()));
  rmSync(folder, { recursive: true });
});

/** What a server writes down of itself. */
interface Ledger {
  readonly file: string;
  lines(): readonly string[];
  /** Resolves once a line matches. */
  see(pattern: RegExp, ms?: number): Promise<unknown>;
}

let ledgers = 0;
function createLedger(): Ledger {
  const file = join(folder, `${++ledgers}`);
  const lines = (): string[] => {
    try {
      return readFileSync(file, "utf8").split("\n");
    } catch {
      return [];
    }
  };
  return {
    file,
    lines,
    see: (pattern, ms) => until(lines, (all) => all.some((line) => pattern.test(line)), ms),
  };
}

type How = "stdio" | "events" | "json";

/** The official v1 server, as an argument of the command line. */
async function watchful(how: How, ledger: Ledger): Promise<readonly string[]> {
  if (how === "stdio") return [process.execPath, SERVER, how, ledger.file];
  const server = startProcess(process.execPath, [SERVER, how, ledger.file]);
  processes.push(server);
  const [, url = ""] = await server.waitFor(/"url":"([^"]+)"/);
  return [url];
}

async function serve(target: readonly string[], options: readonly string[] = []): Promise<string> {
  const cli = runCli(["serve", "--port", "0", ...options, "--", ...target]);
  clis.push(cli);
  const [, url = ""] = await cli.see("out", /^erabridge serving (\S+)\n/);
  return url;
}

function wrap(target: readonly string[]): RunningCli {
  const cli = runCli(["wrap", "--", ...target]);
  clis.push(cli);
  return cli;
}

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const _meta = {
  ...ENVELOPE,
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

const callOf = (id: number, name: string, key: string, more: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: { key, ms: 400 }, ...more },
});

/** A call of a modern client over HTTP that can be given up: its response stream is closed. */
function openModern(url: string, name: string, key: string, more: object = {}) {
  const gone = new AbortController();
  const answer = fetch(url, {
    method: "POST",
    signal: gone.signal,
    headers: {
      ...HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify(callOf(1, name, key, { _meta, ...more })),
  }).then((response) => response.text());
  answer.catch(() => undefined);
  return { answer, close: () => gone.abort() };
}

const tell = (cli: RunningCli, message: object): void =>
  void cli.child.stdin.write(`${JSON.stringify(message)}\n`);

const cancelled = (requestId: number) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

interface Asked {
  readonly result: { readonly inputRequests: object; readonly requestState: string };
}

/** The params of a round that brings answers to what was asked. */
function answering({ result }: Asked): object {
  const accepted = { action: "accept", content: { ok: true } };
  const keys = Object.keys(result.inputRequests);
  return {
    inputResponses: Object.fromEntries(keys.map((key) => [key, accepted])),
    requestState: result.requestState,
  };
}

describe.concurrent.each<How>(["stdio", "events", "json"])("a legacy server over %s", (how) => {
  test("sees a closed response stream as the cancellation of that call, be it the first", async () => {
    const ledger = createLedger();
    const url = await serve(await watchful(how, ledger));
    const first = openModern(url, "hang", "a");
    await ledger.see(/start a/);
    const other = openModern(url, "hang", "b");
    await ledger.see(/start b/);
    first.close();
    await ledger.see(/aborted a/, SOON_MS);
    expect(ledger.lines().filter((line) => line.startsWith("aborted"))).toHaveLength(1);
    other.close();
    await ledger.see(/aborted b/, SOON_MS);
  });

  test("sees notifications/cancelled on standard input as that", async () => {
    const ledger = createLedger();
    const cli = wrap(await watchful(how, ledger));
    tell(cli, callOf(7, "hang", "a", { _meta }));
    await ledger.see(/start a/);
    tell(cli, callOf(8, "hang", "b", { _meta }));
    await ledger.see(/start b/);
    tell(cli, cancelled(7));
    await ledger.see(/aborted a/, SOON_MS);
    tell(cli, callOf(9, "slow", "c", { _meta }));
    await cli.see("out", /"id":9/);
    expect(ledger.lines().join()).not.toContain("aborted b");
    expect(cli.out()).not.toMatch(/"id":7[,}]/);
    tell(cli, cancelled(8));
    await ledger.see(/aborted b/, SOON_MS);
  });
});

// Without a stream on the call's own answer this server has nowhere to ask.
describe.concurrent.each<How>(["stdio", "events"])("a legacy server that asks, over %s", (how) => {
  test("sees that the client of a call with answers is gone", async () => {
    const ledger = createLedger();
    const url = await serve(await watchful(how, ledger));
    const first = openModern(url, "ask", "a");
    const asked = JSON.parse((await first.answer).replace(/^[^{]*/, "")) as Asked;
    const second = openModern(url, "ask", "a", answering(asked));
    await ledger.see(/start a/);
    second.close();
    await ledger.see(/aborted a/, SOON_MS);
    const late = await openModern(url, "ask", "a", answering(asked)).answer;
    expect(JSON.parse(late)).toMatchObject({
      error: { code: -32602, data: { reason: "cancelled" } },
    });
  });

  test("is told when the client does not come back, and gets an answer", async () => {
    const ledger = createLedger();
    const url = await serve(await watchful(how, ledger), ["--park-timeout", "300ms"]);
    const asked = JSON.parse(
      (await openModern(url, "ask", "a").answer).replace(/^[^{]*/, ""),
    ) as Asked;
    await ledger.see(/aborted a/);
    await ledger.see(/answer a/);
    const late = await openModern(url, "ask", "a", answering(asked)).answer;
    expect(JSON.parse(late)).toMatchObject({
      error: { code: -32602, data: { reason: "expired" } },
    });
  });
});

/** Opens a legacy session over HTTP; the headers of its requests. */
async function openLegacy(url: string): Promise<Record<string, string>> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  };
  const reply = await postLegacy(url, { id: 0, method: "initialize", params });
  await reply.text();
  const headers = { "mcp-session-id": reply.headers.get("mcp-session-id") ?? "" };
  await (await postLegacy(url, { method: "notifications/initialized" }, headers)).text();
  return headers;
}

function postLegacy(
  url: string,
  message: object,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...(signal === undefined ? {} : { signal }),
  });
}

describe.concurrent("a modern server", () => {
  test("over HTTP sees a legacy client's cancellation as a closed stream", async () => {
    const server = await startChaosServer({ era: "modern", answers: "events" });
    chaos.push(server);
    const url = await serve([server.url]);
    const session = await openLegacy(url);
    const hanging = postLegacy(url, callOf(1, "hang", "a"), session);
    await until(
      () => server.runs.get("a"),
      (runs) => runs === 1,
    );
    const other = postLegacy(url, callOf(2, "work", "b"), session);
    await (await postLegacy(url, cancelled(1), session)).text();
    await until(
      () => server.cancelled.length,
      (count) => count > 0,
      SOON_MS,
    );
    expect(server.cancelled).toEqual(["a"]);
    expect(await (await hanging).text()).not.toMatch(/"id":1[,}]/);
    expect(await (await other).text()).toContain('"id":2');
  });

  test("over stdio is told by a notification with the id of that call", async () => {
    const ledger = createLedger();
    const cli = wrap([process.execPath, CHILD, "modern", ledger.file]);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    tell(cli, { jsonrpc: "2.0", id: 0, method: "initialize", params });
    await cli.see("out", /"id":0/);
    tell(cli, { jsonrpc: "2.0", method: "notifications/initialized" });
    tell(cli, callOf(1, "hang", "a"));
    await ledger.see(/run a/);
    tell(cli, cancelled(1));
    await ledger.see(/^cancelled \d+$/, SOON_MS);
    tell(cli, callOf(2, "work", "b"));
    await cli.see("out", /"id":2/);
    expect(cli.out()).not.toMatch(/"id":1[,}]/);
  });

  test("over HTTP sees the closed stream of a modern client", async () => {
    const server = await startChaosServer({ era: "modern", answers: "json" });
    chaos.push(server);
    const url = await serve([server.url]);
    const hanging = openModern(url, "hang", "a");
    await until(
      () => server.runs.get("a"),
      (runs) => runs === 1,
    );
    hanging.close();
    await until(
      () => server.cancelled.length,
      (count) => count > 0,
      SOON_MS,
    );
    expect(server.cancelled).toEqual(["a"]);
  });
});

/** Reads a response until the text has what is waited for, then cuts the connection. */
async function cutAfter(reply: Response, pattern: RegExp, cut: AbortController): Promise<string> {
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!pattern.test(text)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error(`the stream ended before ${pattern}: ${text}`);
    text += value ?? "";
  }
  cut.abort();
  return text;
}

describe.concurrent.each<How>(["stdio", "events"])(
  "a dropped connection of a legacy client",
  (how) => {
    test(`cancels nothing at a legacy server over ${how}, and the answer is there for whoever comes back`, async () => {
      const ledger = createLedger();
      const url = await serve(await watchful(how, ledger));
      const mine = await openLegacy(url);
      const others = await openLegacy(url);
      const cut = new AbortController();
      const call = callOf(1, "slow", "a", { _meta: { progressToken: "p" } });
      const reply = await postLegacy(url, call, mine, cut.signal);
      const seen = await cutAfter(reply, /notifications\/progress.*\n\n/, cut);
      const lastEventId = [...seen.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? "";
      await ledger.see(/end a/);
      const resume = (session: Record<string, string>) =>
        fetch(url, {
          headers: { accept: "text/event-stream", "last-event-id": lastEventId, ...session },
        });
      const foreign = await resume(others);
      expect([foreign.status, await foreign.text()]).toEqual([
        400,
        expect.not.stringContaining("content"),
      ]);
      const again = await (await resume(mine)).text();
      expect(again.match(/"id":1[,}]/g)).toHaveLength(1);
      expect(again).toContain('"text":"a"');
      expect(again).not.toContain("notifications/progress");
      expect(ledger.lines().join()).not.toContain("aborted");
    });
  },
);
