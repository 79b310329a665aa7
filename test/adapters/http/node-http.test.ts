import { connect } from "node:net";
import { expect, test } from "vitest";
import { createNodeHandler, type NodeHandlerOptions } from "../../../adapters/http/node-http.js";
import type { HttpHandler, HttpRequest, HttpStream } from "../../../src/index.js";
import { serve } from "./serving.js";

/** Serves a handler that keeps what it saw and answers with its status. */
async function keeping(options: NodeHandlerOptions = {}) {
  const seen: HttpRequest[] = [];
  const handler: HttpHandler = (request, reply) => {
    seen.push(request);
    reply.send(request.bodyProblem === undefined ? 200 : 413, {}, request.bodyProblem ?? "fine");
  };
  const { origin } = await serve(createNodeHandler(handler, options));
  return { origin, seen };
}

/** Sends bytes as they are and gives back all that comes until the server ends. */
function raw(origin: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
    socket.write(bytes);
  });
}

const post = (body: Buffer | string, headers = "") =>
  Buffer.concat([
    Buffer.from(
      `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    ),
    Buffer.from(body),
  ]);

test("a body up to the limit passes, one byte more is withheld and answered at once", async () => {
  const { origin, seen } = await keeping({ maxBodyBytes: 105_162 });
  const send = (size: number) => fetch(origin, { method: "POST", body: "x".repeat(size) });
  expect((await send(105_162)).status).toBe(200);
  const refused = await send(105_163);
  expect(refused.status).toBe(413);
  expect(refused.headers.get("connection")).toBe("close");
  expect(seen.map(({ body, bodyProblem }) => [body?.length, bodyProblem])).toEqual([
    [105_162, undefined],
    [undefined, "oversized"],
  ]);
});

test("a body without a length is counted as it comes, and cut off when it goes on for ever", async () => {
  const { origin, seen } = await keeping({ maxBodyBytes: 1_000 });
  const chunk = `3e8\r\n${"x".repeat(1_000)}\r\n`;
  const head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const answer = await raw(origin, head + chunk.repeat(50));
  expect(seen).toMatchObject([{ body: undefined, bodyProblem: "oversized" }]);
  expect(answer === "" || answer.startsWith("HTTP/1.1 413")).toBe(true);
});

test("an answer is UTF-8 whatever its characters, however long it is", async () => {
  const texts = ['"plain"', '"é"', '"😀é"', `"${"a".repeat(100_000)}"`, `"${"é".repeat(100_000)}"`];
  const answers = texts.values();
  const { origin } = await serve(
    createNodeHandler((_request, reply) => reply.send(200, {}, answers.next().value ?? "")),
  );
  for (const text of texts) {
    const answer = await fetch(origin);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get("content-length")).toBe(`${Buffer.byteLength(text)}`);
    expect(bytes.equals(Buffer.from(text))).toBe(true);
  }
});

test("bytes that are no UTF-8 are named", async () => {
  const { origin, seen } = await keeping();
  await raw(origin, post(Buffer.of(0x22, 0xc3, 0x28, 0x22)));
  expect(seen).toMatchObject([{ body: undefined, bodyProblem: "not-utf8" }]);
});

test("a character cut between two chunks stays whole", async () => {
  const { origin, seen } = await keeping();
  const bytes = Buffer.from('"😀"');
  const chunks = [...bytes].map((byte) =>
    Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")]),
  );
  const head =
    "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  await raw(origin, Buffer.concat([Buffer.from(head), ...chunks, Buffer.from("0\r\n\r\n")]));
  expect(seen[0]?.body).toBe('"😀"');
});

test("repeated headers are one, names are in lower case, a whole URL is a path", async () => {
  const { origin, seen } = await keeping();
  await raw(
    origin,
    "GET http://x/mcp?a=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nMCP-Name: a\r\nmcp-name: b\r\n\r\n",
  );
  expect(seen).toMatchObject([{ method: "GET", path: "/mcp", query: "a=1" }]);
  expect(seen[0]?.headers).toMatchObject({ host: "x", "mcp-name": "a, b" });
});

test("an answer has its length and is not sent in chunks", async () => {
  const { origin } = await serve(
    createNodeHandler((_request, reply) => reply.send(200, { "content-type": "text/plain" }, "ü")),
  );
  const answer = await raw(origin, post("{}"));
  expect(answer.toLowerCase()).toContain("content-length: 2\r\n");
  expect(answer.toLowerCase()).not.toContain("transfer-encoding");
});

test("head and first event of a stream leave in one packet", async () => {
  const { origin } = await serve(
    createNodeHandler((_request, reply) => {
      reply.open(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    }),
  );
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(post("{}"));
  const first = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  socket.destroy();
  expect(String(first)).toContain("data: 1");
});

test("what a slow reader has not taken is backlog, and its going frees it", async () => {
  let stream: HttpStream | undefined;
  let noticed: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    noticed = resolve;
  });
  const { origin } = await serve(
    createNodeHandler((_request, reply, signal) => {
      signal.addEventListener("abort", () => noticed());
      stream = reply.open(200, {});
      expect(stream.backlog).toBe(0);
      for (let n = 0; n < 32; n += 1) stream.write("x".repeat(1024 * 1024));
    }),
  );
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).pause();
  socket.write(post("{}"));
  while (stream === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(stream.backlog).toBeGreaterThan(16 * 1024 * 1024);
  socket.destroy();
  await gone;
  stream.write("more");
  expect(stream.backlog).toBe(0);
});

test("a handler that throws is a 500 for its own client, and is reported", async () => {
  const faults: unknown[] = [];
  const { origin } = await serve(
    createNodeHandler(
      (request, reply) => {
        if (request.path === "/bad") throw new Error("a secret detail");
        reply.send(200, {}, "fine");
      },
      { onFault: (error) => faults.push(error) },
    ),
  );
  const bad = await fetch(`${origin}/bad`);
  expect(bad.status).toBe(500);
  expect(await bad.json()).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32603, message: "Internal error" },
  });
  expect(faults).toEqual([new Error("a secret detail")]);
  expect((await fetch(origin)).status).toBe(200);
});

test("a client that goes before its body is complete never reaches the handler", async () => {
  const { origin, seen } = await keeping();
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf", () =>
    socket.destroy(),
  );
  await new Promise((resolve) => socket.on("close", resolve));
  await fetch(origin);
  expect(seen.map(({ method }) => method)).toEqual(["GET"]);
});

test("requests behind others on a connection end with it, too", async () => {
  const gone: string[] = [];
  const arrived: string[] = [];
  const handler: HttpHandler = ({ path }, _reply, signal) => {
    arrived.push(path);
    signal.addEventListener("abort", () => gone.push(path));
  };
  const { origin } = await serve(createNodeHandler(handler));
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const request = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`;
  socket.write(request("/first") + request("/second") + request("/third"));
  await expect.poll(() => arrived).toEqual(["/first", "/second", "/third"]);
  socket.destroy();
  await expect.poll(() => new Set(gone)).toEqual(new Set(arrived));
  expect(gone).toHaveLength(3);
});

test("a request that was answered behind others does not end a second time", async () => {
  const ended: string[] = [];
  const handler: HttpHandler = ({ path }, reply, signal) => {
    signal.addEventListener("abort", () => ended.push(path));
    setTimeout(() => reply.send(200, {}, path), path === "/first" ? 50 : 0);
  };
  const { origin } = await serve(createNodeHandler(handler));
  const request = (path: string, more = "") =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${more}Content-Length: 0\r\n\r\n`;
  const text = await raw(origin, request("/first") + request("/second", "Connection: close\r\n"));
  expect(text).toMatch(/\/first[\s\S]*\/second$/);
  expect(ended).toEqual([]);
});
