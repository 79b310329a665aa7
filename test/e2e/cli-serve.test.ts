import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  isAlive,
  modernRequest,
  postModern,
  type RunningCli,
  runCli,
  STDIO_SERVER,
} from "../support/cli.js";
import { freePort } from "../support/process.js";

const folder = mkdtempSync(join(tmpdir(), "erabridge-"));
afterAll(() => rmSync(folder, { recursive: true }));
const running: RunningCli[] = [];
afterEach(() => {
  for (const cli of running.splice(0)) cli.child.kill("SIGKILL");
});

const start = (...args: readonly string[]): RunningCli => {
  const cli = runCli(["serve", "--port", "0", ...args]);
  running.push(cli);
  return cli;
};

async function serve(...args: readonly string[]) {
  const cli = start(...args);
  const [, urls = ""] = await cli.see("out", /^erabridge serving (.*)\n/);
  return { cli, urls: urls.split(" "), url: urls.split(" ")[0] ?? "" };
}

/** A server that tells its process id and can be told to hang: `tools/call` of `hang` has no answer. */
const WHO = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const say = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  if (method === "initialize") say({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "who", version: "1" } });
  else if (method === "tools/list") say({ tools: [{ name: "pid", inputSchema: { type: "object" } }] });
  else if (method === "tools/call" && params.name === "slow") setTimeout(() => say({ content: [] }), 700);
  else if (method === "tools/call" && params.name !== "hang") say({ content: [{ type: "text", text: String(process.pid) }] });
  else if (method === "server/discover") console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
});`;
const who = { command: process.execPath, args: ["-e", WHO] };

async function pidBehind(url: string): Promise<number> {
  const { message } = await postModern(url, "tools/call", { name: "pid" });
  const { content } = message["result"] as { content: { text: string }[] };
  return Number(content[0]?.text);
}

describe("erabridge serve", () => {
  it("prints one line with the URL to use, serves there, and drains on SIGTERM", async () => {
    const { cli, url } = await serve("--", ...STDIO_SERVER);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const { status, message } = await postModern(url, "tools/list");
    expect(status).toBe(200);
    expect(message).toMatchObject({ id: 1, result: { resultType: "complete" } });
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(0);
    expect(cli.out()).toBe(`erabridge serving ${url}\n`);
  });

  it("lets calls in flight finish before it exits, and takes its server with it", async () => {
    const { cli, url } = await serve("--", who.command, ...who.args);
    const pid = await pidBehind(url);
    const slow = postModern(url, "tools/call", { name: "slow" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    cli.child.kill("SIGTERM");
    expect((await slow).message).toHaveProperty("result.content");
    expect(await cli.exit).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  it("ends at once on a second signal", async () => {
    const { cli, url } = await serve("--limit", "drainMs=1m", "--", who.command, ...who.args);
    const pid = await pidBehind(url);
    const hanging = postModern(url, "tools/call", { name: "hang" }).catch(() => "cut");
    await new Promise((resolve) => setTimeout(resolve, 100));
    cli.child.kill("SIGTERM");
    await cli.see("err", /stopping/);
    cli.child.kill("SIGINT");
    expect(await cli.exit).toBe(130);
    expect(await hanging).toBe("cut");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("tells an orchestrator how it is and an operator what it did", async () => {
    const { url } = await serve("--", ...STDIO_SERVER);
    const { origin } = new URL(url);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    await postModern(url, "tools/list");
    expect(await (await fetch(`${origin}/readyz`)).text()).toBe("ready\n");
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    expect(metrics).toMatch(/^erabridge_events_total\{event="[a-z-]+"\} \d+$/m);
    expect(metrics).toMatch(/^erabridge_\w+\{upstream="[^"]+"\} \d+$/m);
    expect((await fetch(`${origin}/elsewhere`)).status).toBe(404);
  });

  it("answers with errors when its server dies", async () => {
    const { url } = await serve("--", process.execPath, "-e", "process.exit(9)");
    const { message } = await postModern(url, "tools/list");
    expect(message).toMatchObject({
      id: 1,
      error: { message: expect.stringMatching(/exit code 9/) },
    });
  });

  it("is not ready before its server is there, and then is", async () => {
    const port = await freePort();
    const { url } = await serve("--limit", "restartPauseMs=50", `http://127.0.0.1:${port}/mcp`);
    const ready = async () => (await fetch(`${new URL(url).origin}/readyz`)).status;
    await expect.poll(ready).toBe(503);
    const { message } = await postModern(url, "tools/list");
    expect(message).toMatchObject({ error: { message: expect.stringMatching(/ECONNREFUSED/) } });
    const server = createServer((_request, response) => response.writeHead(404).end());
    server.listen(port, "127.0.0.1");
    await expect.poll(ready, { timeout: 5_000 }).toBe(200);
    server.close();
  });

  it("exits 3 when there is no such command", async () => {
    const cli = start("--", "no-such-command-anywhere");
    expect(await cli.exit).toBe(3);
    expect(cli.err()).toContain("command not found");
  });

  it("exits 5 when the port is taken, and when strangers could call", async () => {
    const { url } = await serve("--lazy", "--", ...STDIO_SERVER);
    const { port } = new URL(url);
    const second = runCli(["serve", "--port", port, "--lazy", "--", ...STDIO_SERVER]);
    expect(await second.exit).toBe(5);
    expect(second.err()).toContain("EADDRINUSE");
    const open = start("--host", "0.0.0.0", "--lazy", "--", ...STDIO_SERVER);
    expect(await open.exit).toBe(5);
    expect(open.err()).toContain("--allow-anonymous");
    expect(open.out()).toBe("");
  });

  it("asks for a token where one is set", async () => {
    const { url } = await serve("--token", "ci:s3cret", "--", ...STDIO_SERVER);
    expect((await postModern(url, "tools/list")).status).toBe(401);
    const headers = { authorization: "Bearer s3cret" };
    expect((await postModern(url, "tools/list", {}, headers)).status).toBe(200);
    const { origin } = new URL(url);
    expect((await fetch(`${origin}/metrics`)).status).toBe(401);
    expect((await fetch(`${origin}/metrics`, { headers })).status).toBe(200);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  });

  it("takes clients by WebSocket at the same path, and keeps pages of other sites out", async () => {
    const { cli, url } = await serve("--", ...STDIO_SERVER);
    const address = url.replace("http", "ws");
    const socket = new WebSocket(address, ["mcp"]);
    await once(socket, "open");
    expect(socket.protocol).toBe("mcp");
    socket.send(modernRequest(5, "tools/list"));
    const [data] = await once(socket, "message");
    expect(JSON.parse(String(data))).toMatchObject({ id: 5, result: { resultType: "complete" } });
    const page = new WebSocket(address, ["mcp"], { origin: "https://evil.example" });
    const [, refusal] = await once(page, "unexpected-response");
    expect(refusal.statusCode).toBe(403);
    const gone = once(socket, "close");
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(0);
    await gone;
  });

  it("refuses pages of other sites", async () => {
    const { url } = await serve("--", ...STDIO_SERVER);
    const foreign = await postModern(url, "tools/list", {}, { origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
    const own = await postModern(url, "tools/list", {}, { origin: new URL(url).origin });
    expect(own.status).toBe(200);
  });
});

describe("erabridge serve --config", () => {
  const file = join(folder, "erabridge.json");
  const write = (upstreams: object) => writeFileSync(file, JSON.stringify({ upstreams }));

  it("serves several servers, adds and removes them on SIGHUP, and does not touch the others", async () => {
    write({ keep: who, drop: who });
    const { cli, urls } = await serve("--config", file);
    expect(urls.map((url) => new URL(url).pathname)).toEqual(["/mcp/keep", "/mcp/drop"]);
    const [keep = "", drop = ""] = urls;
    const pids = [await pidBehind(keep), await pidBehind(drop)];
    const slow = postModern(drop, "tools/call", { name: "slow" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    write({ keep: who, fresh: who });
    cli.child.kill("SIGHUP");
    await cli.see("err", /server-added.*fresh/);
    expect((await postModern(drop, "tools/list")).status).toBe(404);
    expect((await slow).message).toHaveProperty("result.content");
    expect(await pidBehind(keep)).toBe(pids[0]);
    expect(await pidBehind(keep.replace("keep", "fresh"))).toBeGreaterThan(0);
    writeFileSync(file, "{");
    cli.child.kill("SIGHUP");
    await cli.see("err", /reload-refused/);
    expect(await pidBehind(keep)).toBe(pids[0]);
    cli.child.kill("SIGTERM");
    expect(await cli.exit).toBe(0);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  it("exits 2 when the file cannot be read or makes no sense", async () => {
    const none = start("--config", join(folder, "none.json"));
    expect(await none.exit).toBe(2);
    write({ a: {} });
    const empty = start("--config", file);
    expect(await empty.exit).toBe(2);
    expect(empty.err()).toContain("server a needs either a command or a url");
  });
});
