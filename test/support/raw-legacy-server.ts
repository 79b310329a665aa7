import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a scripted tool sees: texts, so that a test can look at characters. */
export interface RawCall {
  /** The whole request body as it arrived. */
  readonly body: string;
  readonly session: string;
  readonly authorization: string | undefined;
  /** Name and version the client gave in `initialize`. */
  readonly client: string;
}

/** Answers one `tools/call` with the text of its result. */
export type RawTool = (call: RawCall) => string | Promise<string>;

export interface RawLegacyServer {
  readonly url: string;
  /** All bodies received, in order. */
  readonly received: readonly string[];
  /** Sessions opened and not deleted. */
  readonly sessions: ReadonlySet<string>;
  /** Forgets every session, as a restart does. */
  forget(): void;
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** The text of the request's id, cut out rather than parsed: it is echoed as it came. */
function idText(body: string): string {
  return /"id":("(?:[^"\\]|\\.)*"|-?[0-9.]+)/.exec(body)?.[1] ?? "null";
}

/** A minimal session server over Streamable HTTP whose tool results are raw texts. */
export async function startRawLegacyServer(
  tool: RawTool,
  options: { readonly sse?: boolean } = {},
): Promise<RawLegacyServer> {
  const received: string[] = [];
  const clients = new Map<string, string>();
  const sessions = new Set<string>();

  const answer = (response: ServerResponse, text: string, session: string): void => {
    if (options.sse) {
      response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": session });
      response.end(`event: message\ndata: ${text}\n\n`);
    } else {
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": session });
      response.end(text);
    }
  };

  const initialize = (body: string, response: ServerResponse): void => {
    const session = randomUUID();
    const { clientInfo } = JSON.parse(body).params;
    sessions.add(session);
    clients.set(session, `${clientInfo.name} ${clientInfo.version}`);
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "raw", version: "1" },
    };
    answer(
      response,
      `{"jsonrpc":"2.0","id":${idText(body)},"result":${JSON.stringify(result)}}`,
      session,
    );
  };

  const post = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    received.push(body);
    const { method } = JSON.parse(body);
    if (method === "initialize") return initialize(body, response);
    const session = String(request.headers["mcp-session-id"]);
    if (!sessions.has(session)) {
      if (method === "server/discover") return void response.writeHead(400).end();
      return void response.writeHead(404).end("unknown session");
    }
    if (!body.includes('"id":') || body.startsWith('{"jsonrpc":"2.0","method"')) {
      return void response.writeHead(202).end();
    }
    const result =
      method === "tools/call"
        ? await tool({
            body,
            session,
            authorization: request.headers.authorization,
            client: clients.get(session) ?? "",
          })
        : '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}';
    answer(response, `{"jsonrpc":"2.0","id":${idText(body)},"result":${result}}`, session);
  };

  const server = createServer((request, response) => {
    if (request.method === "POST") void post(request, response);
    else if (request.method === "DELETE") {
      sessions.delete(String(request.headers["mcp-session-id"]));
      response.writeHead(204).end();
    } else response.writeHead(405).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    received,
    sessions,
    forget: () => sessions.clear(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
