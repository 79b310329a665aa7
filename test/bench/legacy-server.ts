/**
 * The upstream of every measurement: a legacy server in as few instructions as Node allows, so that
 * it is never the bottleneck. `legacy-server.ts http json|sse` or `legacy-server.ts stdio`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: string } };
}

const REVISION = "2025-11-25";
const SESSION = "5f0c3b52-bench";
const IMAGE = `{"content":[{"type":"image","mimeType":"image/png","data":"${"iVBORw0KGgo".padEnd(10_000_000, "A")}"}]}`;
const TOOLS = ["echo", "image"].map((name) => ({ name, inputSchema: { type: "object" } }));

function resultOf(request: Request): string | undefined {
  switch (request.method) {
    case "initialize":
      return JSON.stringify({
        protocolVersion: REVISION,
        capabilities: { tools: {} },
        serverInfo: { name: "bench", version: "1.0.0" },
      });
    case "tools/list":
      return JSON.stringify({ tools: TOOLS });
    case "tools/call":
      return request.params?.name === "image"
        ? IMAGE
        : `{"content":[{"type":"text","text":${JSON.stringify(request.params?.arguments?.text)}}]}`;
    case "ping":
      return "{}";
    default:
      return undefined;
  }
}

function answerTo(request: Request): string {
  const result = resultOf(request);
  const tail =
    result === undefined
      ? '"error":{"code":-32601,"message":"Method not found"}'
      : `"result":${result}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${tail}}`;
}

function respond(request: Request, response: ServerResponse, sse: boolean): void {
  if (request.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const text = answerTo(request);
  const body = sse ? `event: message\ndata: ${text}\n\n` : text;
  const headers: Record<string, string | number> = {
    "content-type": sse ? "text/event-stream" : "application/json",
  };
  if (!sse) headers["content-length"] = Buffer.byteLength(body);
  if (request.method === "initialize") headers["mcp-session-id"] = SESSION;
  response.writeHead(200, headers).end(body);
}

function receive(incoming: IncomingMessage, response: ServerResponse, sse: boolean): void {
  if (incoming.method !== "POST") {
    response.writeHead(incoming.method === "DELETE" ? 200 : 405).end();
    return;
  }
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => {
    const request = JSON.parse(Buffer.concat(chunks).toString()) as Request;
    const known = incoming.headers["mcp-session-id"] === SESSION;
    if (request.method === "initialize" || known) respond(request, response, sse);
    else response.writeHead(400).end("no session");
  });
}

if (process.argv[2] === "stdio") {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const request = JSON.parse(line) as Request;
    if (request.id !== undefined) process.stdout.write(`${answerTo(request)}\n`);
  });
} else {
  const sse = process.argv[3] === "sse";
  const server = createServer((incoming, response) => receive(incoming, response, sse));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) {
      process.stdout.write(`legacy server http://127.0.0.1:${address.port}/mcp\n`);
    }
  });
}
