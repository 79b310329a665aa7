import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  type ChildExit,
  type ChildTargetOptions,
  createChildTarget,
} from "../../../adapters/stdio/child.js";
import type { Channel } from "../../../src/index.js";
import { channelContract, record } from "../../contracts/channel-contract.js";
import { ECHO, eventually, isAlive, scripted } from "./servers.js";

const folder = mkdtempSync(join(tmpdir(), "erabridge-"));
const opened: Channel[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function open(options: ChildTargetOptions): Promise<Channel> {
  const channel = await createChildTarget(options).open();
  opened.push(channel);
  return channel;
}

channelContract("child process", async ({ maxMessageBytes }) => {
  const options = scripted(ECHO);
  const channel = await createChildTarget({
    ...options,
    limits: { ...options.limits, maxMessageBytes },
  }).open();
  return {
    channel,
    say: (text) => channel.send(`!say ${text}`),
    leave: () => channel.send("!leave"),
    stall: () => channel.send("!stall"),
  };
});

test("a command that does not exist is refused at once, by name", async () => {
  await expect(createChildTarget({ command: "no-such-server" }).open()).rejects.toMatchObject({
    code: "upstream-unavailable",
    message: 'cannot start "no-such-server": command not found',
  });
});

test("a file that is not executable is refused at once, by name", async () => {
  const command = join(folder, "plain.txt");
  writeFileSync(command, "text");
  await expect(createChildTarget({ command }).open()).rejects.toMatchObject({
    code: "upstream-unavailable",
    message: `cannot start ${JSON.stringify(command)}: not executable`,
  });
});

test("a directory that does not exist is not mistaken for a missing command", async () => {
  const options = { command: process.execPath, cwd: join(folder, "missing") };
  await expect(createChildTarget(options).open()).rejects.toMatchObject({
    message: `cannot start ${JSON.stringify(process.execPath)}: there is no directory ${JSON.stringify(options.cwd)}`,
  });
});

test("a server that dies at once ends its channel with exit code, and the log gets its last words", async () => {
  const exits: ChildExit[] = [];
  const channel = await open({
    ...scripted('console.error("Error: no configuration"); process.exit(1)'),
    onExit: (exit) => exits.push(exit),
  });
  const seen = record(channel);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([{ expected: false, detail: "exit code 1" }]);
  await eventually(() => exits.length === 1);
  expect(exits[0]).toMatchObject({
    status: "exit code 1",
    expected: false,
    stderrTail: "Error: no configuration\n",
  });
});

test("a server that is killed ends its channel with the signal", async () => {
  const channel = await open(scripted('process.kill(process.pid, "SIGKILL")'));
  const seen = record(channel);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([{ expected: false, detail: "signal SIGKILL" }]);
});

test("what a server wrote before it died is delivered, half a line included", async () => {
  const channel = await open(
    scripted('process.stdout.write("1\\n2\\r\\n\\n3"); process.exitCode = 2'),
  );
  const seen = record(channel);
  channel.send("x");
  await channel.close();
  expect(seen.messages).toEqual(["1", "2", "3"]);
});

test("writing to a server that reads no more ends the channel and crashes nothing", async () => {
  const channel = await open(
    scripted('require("fs").closeSync(0); console.log("deaf"); setInterval(() => {}, 1000)'),
  );
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 1);
  for (let n = 0; n < 100; n += 1) channel.send(`"${"x".repeat(70_000)}"`);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends[0]).toEqual({ expected: false, detail: "it closed its input" });
});

test("a server that closes its output but lives on is over, and is stopped", async () => {
  const exits: ChildExit[] = [];
  const channel = await open({
    ...scripted('require("fs").closeSync(1); setInterval(() => {}, 1000)'),
    onExit: (exit) => exits.push(exit),
  });
  const seen = record(channel);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends[0]).toEqual({ expected: false, detail: "it closed its output" });
  await eventually(() => exits.length === 1);
  expect(exits[0]?.status).toBe("signal SIGTERM");
});

test("closing lets a server finish that stops at the end of its input", async () => {
  const channel = await open(
    scripted('process.stdin.on("end", () => console.log("bye")).resume()'),
  );
  const seen = record(channel);
  await channel.close();
  expect(seen.messages).toEqual(["bye"]);
  expect(seen.ends).toEqual([{ expected: true, detail: "closed by this side (exit code 0)" }]);
});

test("what was sent right before closing still reaches the server", async () => {
  const channel = await open(scripted(ECHO));
  const seen = record(channel);
  channel.send('"last"');
  await channel.close();
  expect(seen.messages).toEqual(['"last"']);
});

test("closing insists on a server that ignores the end of input and SIGTERM, and on its children", async () => {
  const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);';
  const source = `${stubborn}
    const { spawn } = require("node:child_process");
    const grandchild = spawn(process.execPath, ["-e", ${JSON.stringify(`${stubborn} console.log(process.pid)`)}], { stdio: ["ignore", "inherit", "ignore"] });
    console.log(process.pid);`;
  const channel = await open(scripted(source));
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 2);
  const pids = seen.messages.map(Number);
  expect(pids.map(isAlive)).toEqual([true, true]);
  await channel.close();
  expect(seen.ends).toEqual([{ expected: true, detail: "closed by this side (signal SIGKILL)" }]);
  await eventually(() => !pids.some(isAlive));
});

test("a grandchild that outlives its leader neither delays the end nor stays behind", async () => {
  const grandchild =
    'console.log(process.pid); process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)';
  const channel = await open(
    scripted(`
      const { spawn } = require("node:child_process");
      spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], { stdio: ["ignore", "inherit", "inherit"] });
      process.stdin.once("data", () => process.exit(7));`),
  );
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 1);
  const pid = Number(seen.messages[0]);
  const start = Date.now();
  channel.send("!");
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([{ expected: false, detail: "exit code 7" }]);
  expect(Date.now() - start).toBeLessThan(1_000);
  await channel.close();
  await eventually(() => !isAlive(pid));
});

test("standard error is drained whether anyone listens or not", async () => {
  const source = `process.stderr.write("e".repeat(1024 * 1024), () => console.log("done")); ${ECHO}`;
  const channel = await open(scripted(source));
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 1);
  expect(seen.messages).toEqual(["done"]);
});

test("standard error comes line by line, before the exit, and means nothing by itself", async () => {
  const lines: string[] = [];
  const channel = await open({
    ...scripted(`console.error("starting ü\\n\\nlistening"); ${ECHO}`),
    onStderr: (line) => lines.push(line),
    onExit: (exit) => lines.push(exit.status),
  });
  const seen = record(channel);
  channel.send('"still fine"');
  await seen.until(() => seen.messages.length === 1);
  await channel.close();
  await eventually(() => lines.length === 3);
  expect(lines).toEqual(["starting ü", "listening", "exit code 0"]);
});

test("an oversized line is dropped and the next one arrives", async () => {
  const options = scripted('console.log("x".repeat(200000)); console.log("2")');
  const channel = await open({
    ...options,
    limits: { ...options.limits, maxMessageBytes: 100_000 },
  });
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 1);
  expect(seen.messages).toEqual(["2"]);
  expect(seen.dropped).toEqual([{ reason: "oversized", head: "x".repeat(1024) }]);
});

test("a multibyte character that comes byte by byte is one character", async () => {
  const channel = await open(
    scripted(`
      const bytes = [...Buffer.from('"😀漢"\\n')];
      const next = () => { if (bytes.length) process.stdout.write(Buffer.from([bytes.shift()]), () => setTimeout(next, 2)); };
      next();`),
  );
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 1);
  expect(seen.messages).toEqual(['"😀漢"']);
});

test("a server gets the minimal environment and what is named, in its directory", async () => {
  process.env["ERABRIDGE_TEST_SECRET"] = "secret";
  const channel = await open({
    ...scripted("console.log(JSON.stringify([process.env, process.cwd()]))"),
    cwd: folder,
    environment: { variables: { NAMED: "value" } },
  });
  const seen = record(channel);
  await seen.until(() => seen.messages.length === 1);
  delete process.env["ERABRIDGE_TEST_SECRET"];
  const [environment, cwd] = JSON.parse(seen.messages[0] ?? "");
  expect(environment).toMatchObject({ NAMED: "value", PATH: process.env["PATH"] });
  expect(environment).not.toHaveProperty("ERABRIDGE_TEST_SECRET");
  expect(cwd.endsWith(folder.split("/").at(-1) ?? "")).toBe(true);
});

test("each opening is a process of its own", async () => {
  const target = createChildTarget(scripted("console.log(process.pid); process.stdin.resume()"));
  const channels = await Promise.all([target.open(), target.open()]);
  opened.push(...channels);
  const seen = channels.map(record);
  await Promise.all(seen.map((each) => each.until(() => each.messages.length === 1)));
  expect(new Set(seen.map((each) => each.messages[0])).size).toBe(2);
  expect(target).toMatchObject({ type: "channel", spawns: true, name: "node" });
});
