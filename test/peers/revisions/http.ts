import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { OlderRevision } from "./content.js";
import type { OldHttpTransport, OldSdk, OldSseTransport } from "./sdk.js";
import { createOlderServer } from "./server.js";

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** HTTP+SSE (2024-11-05/basic/transports): GET /sse opens a session, POST /messages feeds it. */
export function httpAndSse(sdk: OldSdk, revision: OlderRevision): Handler {
  const sessions = new Map<string, OldSseTransport>();
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new sdk.SSEServerTransport("/messages", response);
      const id = String(transport.sessionId);
      sessions.set(id, transport);
      await createOlderServer(sdk, revision).connect(transport);
      response.on("close", () => sessions.delete(id));
      return;
    }
    const session = sessions.get(searchParams.get("sessionId") ?? "");
    if (request.method === "POST" && pathname === "/messages" && session !== undefined) {
      await session.handlePostMessage(request, response);
      return;
    }
    response.writeHead(404, { "content-type": "text/html" }).end(`Cannot ${request.method}`);
  };
}

/** Streamable HTTP with one server per session. */
export function streamableHttp(sdk: OldSdk, revision: OlderRevision): Handler {
  const sessions = new Map<string, OldHttpTransport>();
  const { StreamableHTTPServerTransport: Transport } = sdk;
  if (Transport === undefined) throw new Error(`${revision} has no Streamable HTTP`);
  const open = async (): Promise<OldHttpTransport> => {
    const transport: OldHttpTransport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id: string) => {
        sessions.set(id, transport);
      },
    });
    await createOlderServer(sdk, revision).connect(transport);
    return transport;
  };
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const transport = id === undefined ? await open() : sessions.get(String(id));
    if (transport === undefined) {
      response.writeHead(404).end();
      return;
    }
    await transport.handleRequest(request, response);
    if (request.method === "DELETE" && id !== undefined) sessions.delete(String(id));
  };
}

/** Listens on a free port of 127.0.0.1 and prints the URL at `path`. */
export function listen(handle: Handler, path: string): void {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port to listen on");
    process.stdout.write(`http://127.0.0.1:${address.port}${path}\n`);
  });
}
