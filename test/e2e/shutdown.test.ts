import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { isAlive, type RunningCli, runCli } from "../support/cli.js";
import { ENVELOPE } from "../support/raw-modern-client.js";
import { until } from "../support/until.js";

const SERVER = fileURLToPath(new URL("../support/stubborn-server.mjs", import.meta.url));

/** With the limits below, all of a shutdown that has to insist twice; doubled for slow machines. */
const STOPPED_MS = 8_000;
const QUICK = [
  ...["--limit", "stopGraceMs=300", "--limit", "drainMs=300"],
  ...["--limit", "eofGraceMs=3s", "--limit", "lastWordsMs=100"],
];

const folder = mkdtempSync(join(tmpdir(), "erabridge-shutdown-"));
const running: RunningCli[] = [];
const ledgers: string[] = [];
const pidsIn = (ledger: string): number[] => {
  try {
    const text = readFileSync(ledger, "utf8");
    return [...text.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
  } catch {
    return [];
  }
};
afterAll(() => {
  for (const cli of running) cli.child.kill("SIGKILL");
  for (const pid of ledgers.flatMap(pidsIn)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true });
});

interface Started {
  readonly cli: RunningCli;
  /** The server's processes, once all of them run. */
  pids(): Promise<readonly number[]>;
  ledger(): string;
  /** Resolves once the server has written that down. */
  sees(line: string | RegExp): Promise<unknown>;
}

function start(
  command: "wrap" | "serve" | "check",
  manners: "stubborn" | "polite" | "mute",
  env: Readonly<Record<string, string>> = {},
): Started {
  const file = join(folder, `${ledgers.length}`);
  ledgers.push(file);
  const port = command === "serve" ? ["--port", "0"] : [];
  const server = [process.execPath, SERVER, file, manners];
  const cli = runCli([command, ...port, ...QUICK, "--", ...server], env);
  running.push(cli);
  const ledger = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
  const expected = manners === "polite" ? 1 : 2;
  return {
    cli,
    ledger,
    sees: (line) => until(ledger, (text) => text.search(line) >= 0),
    pids() {
      return until(
        () => pidsIn(file),
        ({ length }) => length === expected,
      );
    },
  };
}

const urlOf = async (cli: RunningCli): Promise<string> =>
  (await cli.see("out", /^erabridge serving (\S+)\n/))[1] ?? "";

const _meta = {
  ...ENVELOPE,
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const call = (id: number, name: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: {}, _meta },
  });

function post(url: string, id: number, name: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: call(id, name),
  });
}

/** The process ends with the code, in time, and nothing of its server is left. */
async function expectEnd({ cli, pids }: Started, code: number | string): Promise<void> {
  const known = await pids();
  const since = Date.now();
  expect(await cli.exit, cli.err()).toBe(code);
  expect(Date.now() - since).toBeLessThan(STOPPED_MS);
  await until(
    () => known.filter(isAlive),
    ({ length }) => length === 0,
  );
}

describe.concurrent("a server that will not go", () => {
  test.each([
    ["serve", "SIGTERM", 0],
    ["serve", "SIGINT", 0],
    ["serve", "SIGHUP", 0],
    ["wrap", "SIGTERM", 143],
    ["wrap", "SIGINT", 130],
    ["wrap", "SIGHUP", 129],
  ] as const)("goes with all it has started when %s gets %s", async (command, signal, code) => {
    const started = start(command, "stubborn");
    await started.cli.see("err", /era-verdict/);
    await started.pids();
    started.cli.child.kill(signal);
    await expectEnd(started, code);
  });

  test("goes when check is interrupted, which had no answer of it yet", async () => {
    const started = start("check", "mute");
    await started.pids();
    started.cli.child.kill("SIGINT");
    await expectEnd(started, 130);
  });

  test("goes when the input of wrap ends", async () => {
    const started = start("wrap", "stubborn");
    await started.cli.see("err", /era-verdict/);
    await started.pids();
    started.cli.child.stdin.end();
    await expectEnd(started, 0);
  });

  test("goes when the reader of wrap's output has gone", async () => {
    const started = start("wrap", "stubborn");
    await started.cli.see("err", /era-verdict/);
    await started.pids();
    started.cli.child.stdout.destroy();
    started.cli.child.stdin.write(`${call(1, "slow")}\n`);
    await expectEnd(started, 0);
  });

  test("goes when the reader of wrap's output does not read", async () => {
    const started = start("wrap", "stubborn");
    const { child } = started.cli;
    const exit = once(child, "exit");
    child.stdout.pause();
    child.stdin.write(`${call(1, "big")}\n`);
    await started.sees(/call big/);
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    child.stdout.resume();
    await expectEnd(started, 0);
  });

  test.each(["wrap", "serve"] as const)("goes when %s breaks down", async (command) => {
    const crash = "process.on('SIGUSR2', () => { throw new Error('broken down') })";
    const preload = `--import="data:text/javascript,${encodeURIComponent(crash)}"`;
    const started = start(command, "stubborn", { NODE_OPTIONS: preload });
    await started.pids();
    started.cli.child.kill("SIGUSR2");
    await expectEnd(started, 1);
    expect(started.cli.err()).toContain("broken down");
  });

  test("goes at once on a second signal", async () => {
    const started = start("serve", "stubborn");
    const url = await urlOf(started.cli);
    await started.pids();
    const hanging = post(url, 1, "hang").catch(() => "cut");
    await started.sees("call hang");
    started.cli.child.kill("SIGTERM");
    await started.cli.see("err", /stopping/);
    started.cli.child.kill("SIGTERM");
    await expectEnd(started, 143);
    await hanging;
  });
});

describe.concurrent("a server that goes when its input ends", () => {
  test("is gone when the bridge is killed", async () => {
    const started = start("serve", "polite");
    await urlOf(started.cli);
    await started.pids();
    started.cli.child.kill("SIGKILL");
    await expectEnd(started, "SIGKILL");
  });

  test("is gone when serve is stopped while it starts", async () => {
    const started = start("serve", "polite");
    await started.pids();
    started.cli.child.kill("SIGTERM");
    await expectEnd(started, 0);
  });
});

describe.concurrent("calls in flight when the input of wrap ends", () => {
  test("are answered, and then it exits 0", async () => {
    const started = start("wrap", "polite");
    started.cli.child.stdin.write(`${call(1, "slow")}\n${call(2, "slow")}\n`);
    await started.sees(/call slow\n.*call slow/s);
    started.cli.child.stdin.end();
    await expectEnd(started, 0);
    const answers = started.cli.out().trimEnd().split("\n");
    expect(answers.map((line) => JSON.parse(line).id).sort()).toEqual([1, 2]);
    expect(started.cli.out()).not.toContain("error");
  });

  test("that wait for the client do not keep it", async () => {
    const started = start("wrap", "polite");
    started.cli.child.stdin.write(`${call(1, "ask")}\n`);
    await started.cli.see("out", /input_required/);
    const since = Date.now();
    started.cli.child.stdin.end();
    await expectEnd(started, 0);
    expect(Date.now() - since).toBeLessThan(2_500);
    expect(started.ledger()).toContain("notifications/cancelled");
    expect(started.ledger()).toContain('"action":"cancel"');
  });

  test("that never end keep it for eofGraceMs and no longer", async () => {
    const started = start("wrap", "polite");
    started.cli.child.stdin.write(`${call(1, "hang")}\n`);
    await started.sees("call hang");
    const since = Date.now();
    started.cli.child.stdin.end();
    await expectEnd(started, 0);
    expect(Date.now() - since).toBeGreaterThan(2_500);
    expect(started.ledger()).toContain("notifications/cancelled");
  });
});

describe.concurrent("serve that is told to stop", () => {
  test("answers what is in flight, refuses what comes, and gives up what hangs", async () => {
    const started = start("serve", "polite");
    const url = await urlOf(started.cli);
    // First, so that nobody else could be meant.
    const asked = await post(url, 3, "ask");
    expect(await asked.text()).toContain("input_required");
    const slow = post(url, 1, "slow");
    const hanging = post(url, 2, "hang");
    for (const name of ["slow", "hang"]) {
      await started.sees(`call ${name}`);
    }
    started.cli.child.kill("SIGTERM");
    await started.cli.see("err", /stopping/);
    const late = await post(url, 4, "slow");
    expect([late.status, await late.text()]).toEqual([
      503,
      expect.stringContaining("shutting down"),
    ]);
    await expectEnd(started, 0);
    for (const reply of [slow, hanging]) {
      const text = await reply.then(
        (response) => response.text(),
        () => "cut",
      );
      expect(text).toMatch(/"text":"done"|shutting down/);
    }
    expect(started.ledger()).toContain('"action":"cancel"');
    expect(started.ledger()).toContain("notifications/cancelled");
  });
});
