import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createUndiciExchange, type UndiciExchange } from "../../adapters/http/undici-exchange.js";
import { createSystemClock } from "../../adapters/system/clock.js";
import { DEFAULT_LIMITS } from "../../src/index.js";
import { createLegacyUrlLinks } from "../../src/upstream/legacy-url-links.js";
import type { Link } from "../../src/upstream/link.js";
import { createRecorder, createRecordingJournal, type Recorder, requestText } from "./fakes.js";

interface Asked {
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
  readonly message: { readonly id?: number; readonly method?: string };
}

let http: Server | undefined;
let client: UndiciExchange | undefined;

afterEach(async () => {
  await client?.close();
  http?.closeAllConnections();
  await new Promise((resolve) => http?.close(resolve) ?? resolve(undefined));
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** A server on loopback and a started link to it. */
async function connect(
  answer: (asked: Asked) => void,
): Promise<{ link: Link; recorder: Recorder; heard(line: RegExp): Promise<void> }> {
  const server = createServer((request, reply) => {
    void bodyOf(request).then((body) => {
      answer({ request, reply, message: body === "" ? {} : JSON.parse(body) });
    });
  });
  http = server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = createUndiciExchange();
  const { port } = server.address() as AddressInfo;
  const links = createLegacyUrlLinks({
    url: `http://127.0.0.1:${port}/mcp`,
    name: "server",
    exchange: client.exchange,
    limits: { ...DEFAULT_LIMITS, resumePauseMs: 5 },
    clock: createSystemClock(),
    journal: createRecordingJournal(),
  });
  const recorder = createRecorder();
  const link = await links.open(() => ({}));
  link.start(recorder);
  const heard = (line: RegExp): Promise<void> =>
    expect.poll(() => recorder.log.join("\n"), { timeout: 5_000, interval: 5 }).toMatch(line);
  return { link, recorder, heard };
}

function ask(link: Link, id: number, method = "tools/call"): void {
  link.request({ id, method, text: requestText(id, method) });
}

function json(reply: ServerResponse, body: string, headers: Record<string, string> = {}): void {
  reply.writeHead(200, { "content-type": "application/json", ...headers }).end(body);
}

describe("a link over real HTTP", () => {
  it("holds a session from the handshake to its farewell", async () => {
    const seen: string[] = [];
    let stream: ServerResponse | undefined;
    const { link, recorder, heard } = await connect(({ request, reply, message }) => {
      seen.push(
        `${request.method} ${message.method ?? ""} ${request.headers["mcp-session-id"] ?? "-"}`,
      );
      if (request.method === "GET") {
        stream = reply.writeHead(200, { "content-type": "text/event-stream" });
        stream.flushHeaders();
      } else if (message.method === "initialize") {
        json(reply, '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}', {
          "mcp-session-id": "s-1",
        });
      } else if (message.id === undefined) reply.writeHead(202).end();
      else json(reply, `{"jsonrpc":"2.0","id":${message.id},"result":{}}`);
    });
    ask(link, 1, "initialize");
    await heard(/response 1/);
    link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    await link.established("2025-11-25");
    expect(link.listens).toBe(true);
    stream?.write('data: {"jsonrpc":"2.0","id":9,"method":"roots/list"}\n\n');
    await heard(/request 9 roots\/list/);
    ask(link, 2);
    await heard(/response 2/);
    await link.close();
    expect(seen).toEqual([
      "POST initialize -",
      "POST notifications/initialized s-1",
      "GET  s-1",
      "POST tools/call s-1",
      "DELETE  s-1",
    ]);
    expect(recorder.log.at(-1)).toBe("closed: closed by the bridge");
  });

  it("never sends a request twice when its connection is reset", async () => {
    let executions = 0;
    const { link, heard } = await connect(({ request }) => {
      executions += 1;
      request.socket.destroy();
    });
    ask(link, 1);
    await heard(/^lost 1 broken/);
    expect(executions).toBe(1);
  });

  it("fails a request whose JSON is cut short, and serves the next", async () => {
    const { link, heard } = await connect(({ reply, message }) => {
      if (message.id === 1) {
        reply.writeHead(200, { "content-type": "application/json", "content-length": "500" });
        reply.write('{"jsonrpc":"2.0","id":1,"resu');
        setImmediate(() => reply.destroy());
      } else json(reply, `{"jsonrpc":"2.0","id":${message.id},"result":{}}`);
    });
    ask(link, 1);
    await heard(/^lost 1 broken/);
    ask(link, 2);
    await heard(/response 2 \{\} @2/);
  });

  it("takes up a cut stream until the answer has come", async () => {
    const resumedFrom: string[] = [];
    const { link, heard } = await connect(({ request, reply }) => {
      const from = request.headers["last-event-id"];
      reply.writeHead(200, { "content-type": "text/event-stream" });
      if (request.method === "POST") {
        reply.write(
          'id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n',
        );
        setImmediate(() => reply.destroy());
      } else if (from === "1") {
        resumedFrom.push(from);
        reply.end("id: 2\nretry: 5\ndata:\n\n");
      } else {
        resumedFrom.push(String(from));
        reply.end('id: 3\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
      }
    });
    ask(link, 1);
    await heard(/response 1 \{\} @1/);
    expect(resumedFrom).toEqual(["1", "2"]);
  });

  it("reaches a server that has only HTTP+SSE", async () => {
    let stream: ServerResponse | undefined;
    const { link, heard } = await connect(({ request, reply, message }) => {
      if (request.method === "GET") {
        stream = reply.writeHead(200, { "content-type": "text/event-stream" });
        stream.write("event: endpoint\ndata: /messages?session=1\n\n");
      } else if (request.url === "/mcp") reply.writeHead(404).end("Cannot POST /mcp");
      else {
        reply.writeHead(202).end("Accepted");
        stream?.write(`data: {"jsonrpc":"2.0","id":${message.id},"result":{}}\n\n`);
      }
    });
    ask(link, 1, "initialize");
    await heard(/response 1/);
    ask(link, 2);
    await heard(/response 2/);
    stream?.destroy();
    await heard(/closed: /);
  });

  it("tells that nothing was sent when nobody listens", async () => {
    const { link, heard } = await connect(({ reply }) => reply.end());
    http?.closeAllConnections();
    await new Promise((resolve) => http?.close(resolve));
    ask(link, 1);
    await heard(/^lost 1 not-sent/);
  });
});
