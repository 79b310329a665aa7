import { afterEach, describe, expect, it } from "vitest";
import { modernRequest, type RunningCli, runCli, STDIO_SERVER } from "../support/cli.js";

const running: RunningCli[] = [];
afterEach(() => {
  for (const cli of running.splice(0)) cli.child.kill("SIGKILL");
});

function wrap(...args: readonly string[]): RunningCli {
  const cli = runCli(["wrap", ...args]);
  running.push(cli);
  return cli;
}

const answer = (id: number) => new RegExp(`^.*"id":${id}[,}].*$`, "m");
async function ask(cli: RunningCli, id: number, method: string, params: object = {}) {
  cli.child.stdin.write(`${modernRequest(id, method, params)}\n`);
  const [line] = await cli.see("out", answer(id));
  return JSON.parse(line ?? "") as Record<string, Record<string, unknown>>;
}

describe("erabridge wrap", () => {
  it("lets a modern client use a legacy server, with nothing but messages on its output", async () => {
    const cli = wrap("--", ...STDIO_SERVER);
    const discovered = await ask(cli, 1, "server/discover");
    expect(discovered["result"]?.["supportedVersions"]).toContain("2026-07-28");
    const called = await ask(cli, 2, "tools/call", { name: "echo", arguments: { text: "hi" } });
    expect(called["result"]).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: "hi" }],
    });
    cli.child.stdin.end();
    expect(await cli.exit).toBe(0);
    const lines = cli.out().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).jsonrpc)).toEqual(["2.0", "2.0"]);
    expect(cli.err()).toContain("legacy");
  });

  it("lets a legacy client use it as well", async () => {
    const cli = wrap("--", ...STDIO_SERVER);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const send = (message: object) =>
      cli.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 1, method: "initialize", params });
    const [line] = await cli.see("out", answer(1));
    expect(JSON.parse(line ?? "").result).toMatchObject({ protocolVersion: "2025-11-25" });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/list" });
    const [list] = await cli.see("out", answer(2));
    expect(JSON.parse(list ?? "").result.tools).toHaveLength(2);
    cli.child.stdin.end();
    expect(await cli.exit).toBe(0);
  });

  it("answers with an error at once when there is no such command, and exits 3 in the end", async () => {
    const cli = wrap("--", "no-such-command-anywhere");
    const failed = await ask(cli, 7, "tools/list");
    expect(failed["error"]?.["message"]).toMatch(/command not found/);
    cli.child.stdin.end();
    expect(await cli.exit).toBe(3);
  });

  it("answers with an error at once when the server dies, naming its exit code", async () => {
    const cli = wrap("--", process.execPath, "-e", "process.exit(7)");
    const failed = await ask(cli, 7, "tools/list");
    expect(failed["error"]?.["message"]).toMatch(/exit code 7/);
    cli.child.stdin.end();
    expect(await cli.exit).toBe(3);
  });

  it("hands the server's own words on, so that nothing is harder to find than without it", async () => {
    const cli = wrap(
      "--",
      process.execPath,
      "-e",
      "console.error('out of cheese'); process.exit(1)",
    );
    await cli.see("err", /^out of cheese$/m);
    cli.child.stdin.end();
    await cli.exit;
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("ends with its server on %s and exits %i", async (signal, code) => {
    const cli = wrap("--", ...STDIO_SERVER);
    await ask(cli, 1, "server/discover");
    cli.child.kill(signal);
    expect(await cli.exit).toBe(code);
  });

  it("answers malformed input and goes on", async () => {
    const cli = wrap("--", ...STDIO_SERVER);
    cli.child.stdin.write("{broken\n[]\n");
    await cli.see("out", /"code":-32700/);
    expect(await ask(cli, 3, "tools/list")).toHaveProperty("result.tools");
    cli.child.stdin.end();
    expect(await cli.exit).toBe(0);
  });
});
