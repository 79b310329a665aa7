/**
 * The floor: the least a proxy of parsed messages does. It reads a body, parses it, writes it out
 * again, and does the same to the answer; nothing of MCP but the session header.
 * `floor.ts http <url>` or `floor.ts stdio <command> [args…]`.
 */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { request } from "undici";

type Forward = (body: string, incoming: IncomingMessage, response: ServerResponse) => void;

const PASSED = ["content-type", "accept", "mcp-session-id", "mcp-protocol-version"] as const;

function again(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

function sendJson(response: ServerResponse, text: string, session?: string): void {
  const headers: Record<string, string | number> = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  };
  if (session !== undefined) headers["mcp-session-id"] = session;
  response.writeHead(200, headers).end(text);
}

async function relayEvents(chunks: AsyncIterable<Buffer>, response: ServerResponse): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) {
        response.write(`event: message\ndata: ${again(line.slice(6))}\n\n`);
      }
    }
  }
  response.end();
}

function overHttp(url: string): Forward {
  return async (body, incoming, response) => {
    const headers: Record<string, string> = {};
    for (const name of PASSED) {
      const value = incoming.headers[name];
      if (typeof value === "string") headers[name] = value;
    }
    const answer = await request(url, { method: "POST", headers, body: again(body) });
    const session = answer.headers["mcp-session-id"];
    if (answer.headers["content-type"] === "text/event-stream") {
      const head: Record<string, string> = { "content-type": "text/event-stream" };
      if (typeof session === "string") head["mcp-session-id"] = session;
      response.writeHead(answer.statusCode, head);
      await relayEvents(answer.body, response);
      return;
    }
    const text = await answer.body.text();
    if (answer.statusCode === 200) {
      sendJson(response, again(text), typeof session === "string" ? session : undefined);
    } else {
      response.writeHead(answer.statusCode).end(text);
    }
  };
}

function overStdio(command: string, args: readonly string[]): Forward {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, { readonly id: unknown; readonly response: ServerResponse }>();
  let lastId = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as { id: unknown };
    const entry = waiting.get(answer.id as number);
    if (entry === undefined) return;
    waiting.delete(answer.id as number);
    answer.id = entry.id;
    sendJson(entry.response, JSON.stringify(answer));
  });
  process.on("exit", () => child.kill());
  return (body, _incoming, response) => {
    const message = JSON.parse(body) as { id?: unknown };
    if (message.id === undefined) {
      response.writeHead(202).end();
    } else {
      lastId += 1;
      waiting.set(lastId, { id: message.id, response });
      message.id = lastId;
    }
    child.stdin.write(`${JSON.stringify(message)}\n`);
  };
}

const [kind, first = "", ...others] = process.argv.slice(2);
const forward = kind === "stdio" ? overStdio(first, others) : overHttp(first);
const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => forward(Buffer.concat(chunks).toString(), incoming, response));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) {
    process.stdout.write(`floor http://127.0.0.1:${address.port}/mcp\n`);
  }
});
process.on("SIGTERM", () => process.exit(0));
