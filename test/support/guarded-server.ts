import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as the server saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage["headers"];
  /** The JSON-RPC method; undefined for answers and where there is no body. */
  readonly rpc: string | undefined;
}

/** A server behind tokens. `Bearer <user>` is good for the users it knows. */
export interface GuardedServer {
  readonly origin: string;
  readonly url: string;
  readonly seen: Seen[];
  /** Who may come in; may be changed at any time. */
  readonly users: Set<string>;
  readonly challenges: readonly string[];
  /** What it says to a user who may not use the tool `admin`. */
  readonly stepUp: string;
  readonly metadata: string;
  close(): Promise<void>;
}

interface Call {
  readonly id?: unknown;
  readonly result?: object;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

type Respond = (result: object, headers?: Record<string, string>) => void;

/** Written by hand, so that nothing is assumed about what an SDK would send. */
export async function startGuardedServer(era: "legacy" | "modern"): Promise<GuardedServer> {
  const seen: Seen[] = [];
  const users = new Set<string>();
  const sessions = new Map<string, { readonly user: string; calls: number }>();
  /** Calls of the tool `ask` that wait for their user. */
  const asking: (() => void)[] = [];
  let origin = "";

  const challenges = (): readonly string[] => [
    `Bearer realm="x", error="invalid_token", scope="a b", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    'DPoP algs="ES256 PS256"',
  ];
  const stepUp = 'Bearer error="insufficient_scope", scope="admin"';
  const metadata = (): string => `{ "resource":"${origin}/mcp",\n"authorization_servers":[] }`;

  const call = ({ params }: Call, user: string, session: string): object => {
    const entry = sessions.get(session);
    if (entry !== undefined) entry.calls += 1;
    const text = `${user} ${params?.name} ${entry?.calls ?? 0}`;
    return { resultType: "complete", content: [{ type: "text", text }] };
  };

  const lists = (user: string): object => ({
    resultType: "complete",
    ttlMs: 0,
    cacheScope: "private",
    tools: [{ name: `of-${user}`, inputSchema: { type: "object" } }],
  });

  const legacy = (message: Call, user: string, session: string, respond: Respond): boolean => {
    if (message.method === "initialize") {
      const id = randomUUID();
      sessions.set(id, { user, calls: 0 });
      const serverInfo = { name: "guarded", version: "1" };
      const capabilities = { tools: { listChanged: true } };
      respond(
        { protocolVersion: "2025-11-25", capabilities, serverInfo },
        { "mcp-session-id": id },
      );
      return true;
    }
    if (sessions.get(session)?.user !== user) return false;
    respond(message.method === "tools/list" ? lists(user) : call(message, user, session));
    return true;
  };

  const modern = (message: Call, user: string, respond: Respond): void => {
    if (message.method === "server/discover") {
      respond({
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true } },
        ttlMs: 0,
        cacheScope: "private",
      });
    } else respond(message.method === "tools/list" ? lists(user) : call(message, user, ""));
  };

  const listen = (response: ServerResponse, id: unknown): void => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    if (id === undefined) return;
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const params = { _meta, notifications: { toolsListChanged: true } };
    const method = "notifications/subscriptions/acknowledged";
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
  };

  const ask = ({ id }: Call, response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (text: object): void =>
      void response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...text })}\n\n`);
    const requestedSchema = { type: "object", properties: {} };
    const params = { message: "go on?", requestedSchema };
    say({ id: "q", method: "elicitation/create", params });
    asking.push(() => say({ id, result: { content: [{ type: "text", text: "answered" }] } }));
  };

  /** Requests of the era this server speaks. */
  const serve = (
    message: Call,
    user: string,
    session: string,
    response: ServerResponse,
    respond: Respond,
  ): void => {
    if (era === "legacy") {
      if (message.params?.name === "ask") ask(message, response);
      else if (!legacy(message, user, session, respond)) {
        response.writeHead(message.method === "server/discover" ? 400 : 404).end("no session");
      }
    } else if (message.method === "subscriptions/listen") listen(response, message.id);
    else if (message.method === "initialize") response.writeHead(400).end();
    else modern(message, user, respond);
  };

  const post = (message: Call, user: string, session: string, response: ServerResponse): void => {
    if (message.id === undefined) response.writeHead(202).end();
    else if (message.result !== undefined) {
      response.writeHead(202).end();
      asking.shift()?.();
    } else if (message.params?.name === "admin") {
      response.writeHead(403, { "www-authenticate": stepUp }).end("no");
    } else {
      serve(message, user, session, response, (result, headers = {}) => {
        response.writeHead(200, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
      });
    }
  };

  const server = createServer(async (request, response) => {
    const { method = "", url = "" } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const message = (body === "" ? {} : JSON.parse(body)) as Call;
    const { authorization } = request.headers;
    const { headers } = request;
    seen.push({ method, path: url, authorization, headers, rpc: message.method });
    if (url.startsWith("/.well-known/oauth-protected-resource")) {
      response.writeHead(200, { "content-type": "application/json" }).end(metadata());
      return;
    }
    const session = String(headers["mcp-session-id"]);
    const user = /^Bearer (.*)$/.exec(authorization ?? "")?.[1] ?? "";
    if (!users.has(user)) {
      const fields = challenges().flatMap((challenge) => ["WWW-Authenticate", challenge]);
      response.writeHead(401, fields).end('{"error":"invalid_token"}');
    } else if (method === "POST") post(message, user, session, response);
    else if (method === "GET" && era === "legacy") listen(response, undefined);
    else if (method === "DELETE") {
      sessions.delete(session);
      response.writeHead(204).end();
    } else response.writeHead(405).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    seen,
    users,
    challenges: challenges(),
    stepUp,
    metadata: metadata(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
