import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modernRequest, postModern, type RunningCli, runCli } from "../support/cli.js";

const CHILD = fileURLToPath(new URL("../support/chaos-child.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "erabridge-raw-"));
let cli: RunningCli;
let url = "";
let port = 0;

beforeAll(async () => {
  const server = [process.execPath, CHILD, "legacy", join(folder, "ledger")];
  cli = runCli(["serve", "--port", "0", "--max-body", "1mb", "--", ...server]);
  url = (await cli.see("out", /^erabridge serving (\S+)\n/))[1] ?? "";
  port = Number(new URL(url).port);
  await postModern(url, "tools/list");
});
afterAll(() => {
  cli.child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const HEAD = [
  "POST /mcp HTTP/1.1",
  "Host: 127.0.0.1",
  "Content-Type: application/json",
  "MCP-Protocol-Version: 2026-07-28",
  "Mcp-Method: tools/list",
];

const request = (body: string | Buffer, ...more: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from(
      [...HEAD, ...more, `Content-Length: ${Buffer.byteLength(body)}`, "", ""].join("\r\n"),
    ),
    Buffer.from(body),
  ]);

const list = modernRequest(1, "tools/list");

interface Talk {
  readonly socket: Socket;
  text(): string;
}

function open(bytes: string | Buffer): Talk {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  socket.write(bytes);
  return { socket, text: () => text };
}

async function gauge(name: string): Promise<number> {
  const metrics = await (await fetch(`${new URL(url).origin}/metrics`)).text();
  const [, value] = new RegExp(`^erabridge_${name}\\{.*\\} (\\d+)$`, "m").exec(metrics) ?? [];
  return Number(value);
}

const deep = (depth: number, inside: string): string =>
  `${'{"a":'.repeat(depth)}${inside}${"}".repeat(depth)}`;
const wide = (count: number): string =>
  Array.from({ length: count }, (_, n) => `"k${n}":1`).join(",");

/** Bytes, and how the answer begins. */
const REFUSED: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ["no HTTP", "hello\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["two lengths", request(list, "Transfer-Encoding: chunked"), /^HTTP\/1\.1 400 /],
  ["a header of 100 kB", request(list, `X: ${"x".repeat(100_000)}`), /^HTTP\/1\.1 431 /],
  [
    "a second method in the headers",
    request(list, "Mcp-Method: tools/call"),
    /^HTTP\/1\.1 400 .*-32020/s,
  ],
  [
    "no UTF-8",
    request(Buffer.concat([Buffer.from(list), Buffer.of(0xff)])),
    /^HTTP\/1\.1 400 .*-32700/s,
  ],
  ["a body over the limit", request(`${list}${" ".repeat(1_100_000)}`), /^HTTP\/1\.1 413 /],
  [
    "nesting 10,000 deep",
    request(list.replace("{}", deep(10_000, "1"))),
    /^HTTP\/1\.1 400 .*-32700/s,
  ],
  [
    "capabilities 10,000 wide",
    request(list.replace("{}", `{${wide(10_000)}}`)),
    /^HTTP\/1\.1 400 /,
  ],
  [
    "a second method in the body",
    request(list.replace('"id"', '"method":"tools/call","id"')),
    /^HTTP\/1\.1 200 /,
  ],
  [
    "a second method behind the first",
    request(list.replace('"params"', '"method":"tools/call","params"')),
    /^HTTP\/1\.1 400 .*-32020/s,
  ],
  ["a page of another site", request(list, "Origin: https://evil.example"), /^HTTP\/1\.1 403 /],
];

test.each(REFUSED)(
  "%s gets its answer, and the next client its own",
  async (_, bytes, expected) => {
    const { socket, text } = open(bytes);
    await expect.poll(text, { timeout: 10_000 }).toMatch(expected);
    socket.destroy();
    expect((await postModern(url, "tools/list")).status).toBe(200);
  },
);

test("members like those of every object are members like others", async () => {
  const body = list.replace(
    '"params":{',
    '"__proto__":{"id":9},"params":{"__proto__":{"_meta":1},',
  );
  const { socket, text } = open(request(body));
  await expect.poll(text, { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 200 .*"id":1,/s);
  socket.destroy();
});

test("requests that never end are no load, and go with their connection", async () => {
  const halves = [
    "POST /mcp HT",
    `${HEAD.join("\r\n")}\r\nContent-Le`,
    request(list).subarray(0, -10),
    `${HEAD.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"jso`,
  ];
  const talks = Array.from({ length: 100 }, (_, n) => open(halves[n % halves.length] ?? ""));
  expect((await postModern(url, "tools/list")).status).toBe(200);
  for (const { socket } of talks) socket.destroy();
  await expect.poll(() => gauge("requests"), { timeout: 10_000 }).toBe(0);
});

test("pipelined calls are all cancelled when their connection goes", async () => {
  const hang = (id: number): Buffer => {
    const body = modernRequest(id, "tools/call", { name: "hang", arguments: { key: `${id}` } });
    const text = request(body, "Mcp-Name: hang").toString();
    return Buffer.from(text.replace("Mcp-Method: tools/list", "Mcp-Method: tools/call"));
  };
  const { socket } = open(Buffer.concat([hang(1), hang(2), hang(3)]));
  await expect.poll(() => gauge("calls"), { timeout: 10_000 }).toBe(3);
  socket.destroy();
  await expect.poll(() => gauge("calls"), { timeout: 10_000 }).toBe(0);
});

test("a session id that nobody issued opens nothing", async () => {
  for (const id of ["x", "é", "a, b", "x".repeat(7_000), "__proto__"]) {
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMcp-Session-Id: ${id}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { socket, text } = open(Buffer.from(head + body, "latin1"));
    await expect.poll(text, { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  }
  expect(await gauge("front_sessions")).toBe(0);
});
