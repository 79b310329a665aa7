import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChaosOptions {
  readonly era: "legacy" | "modern";
  /**
   * How calls are answered; `events-with-ids` can be resumed after a cut, modern ones cannot.
   * `one-stream`: everything on the stream that is the session, as in revision 2024-11-05.
   */
  readonly answers: "json" | "events" | "events-with-ids" | "one-stream";
}

/** A server over HTTP that can be broken in the ways that networks and operators break servers. */
export interface ChaosServer {
  readonly url: string;
  /** How often a tool was run, by the key the call carried. */
  readonly runs: ReadonlyMap<string, number>;
  /** Cancellations seen: notifications of a legacy client, closed streams of a modern one. */
  readonly cancelled: readonly string[];
  /** Open answer streams and listening streams. */
  readonly streams: number;
  readonly sessions: number;
  /** Cuts every TCP connection, whatever is on it. */
  cutConnections(): void;
  /** Cuts every event stream in the middle; other connections stay. */
  cutStreams(): void;
  /** Dies: the port is closed, everything is cut, sessions and events are forgotten. */
  crash(): Promise<void>;
  /** Is started again at the same address. */
  revive(): Promise<void>;
  close(): Promise<void>;
}

interface Json {
  readonly [key: string]: unknown;
}

interface Request {
  readonly id: number | string;
  readonly method: string;
  readonly params: Json & {
    readonly name?: string;
    readonly arguments?: { key: string; ms?: number };
  };
}

/** One stream of a session: its events are kept, for those who come back. */
interface Stream {
  readonly events: string[];
  response: ServerResponse | undefined;
  done: boolean;
}

interface Session {
  readonly streams: Stream[];
  listening: Stream;
  readonly waiting: Map<number, () => void>;
  readonly running: Map<string, () => void>;
}

const EVENTS = { "content-type": "text/event-stream", "cache-control": "no-cache" };
const QUESTION = {
  message: "go on?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
};
const TOOLS = ["work", "ask", "hang"].map((name) => ({ name, inputSchema: { type: "object" } }));

const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "chaos", version: "1" },
};

export async function startChaosServer({ era, answers }: ChaosOptions): Promise<ChaosServer> {
  const runs = new Map<string, number>();
  const cancelled: string[] = [];
  const open = new Set<ServerResponse>();
  let sessions = new Map<string, Session>();
  let nextQuestion = 0;
  let server: Server | undefined;
  let port = 0;

  const isOldest = answers === "one-stream";
  const fields = era === "modern" ? { resultType: "complete" } : {};
  const hints = era === "modern" ? { ttlMs: 0, cacheScope: "private" } : {};
  const text = (value: string): Json => ({ ...fields, content: [{ type: "text", text: value }] });
  const ran = (key: string): void => void runs.set(key, (runs.get(key) ?? 0) + 1);
  const result = (id: unknown, value: unknown): string =>
    JSON.stringify({ jsonrpc: "2.0", id, result: value });
  const failure = (id: unknown, code: number): string =>
    JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no" } });

  const send = (
    response: ServerResponse,
    status: number,
    body = "",
    headers: Record<string, string> = {},
  ): void => {
    if (!response.destroyed)
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };
  const openEvents = (response: ServerResponse, headers: Record<string, string> = {}): void => {
    response.writeHead(200, { ...EVENTS, ...headers });
    response.flushHeaders();
    open.add(response);
    response.on("close", () => open.delete(response));
  };

  const push = (session: Session, stream: Stream, message: string): void => {
    stream.events.push(message);
    const id =
      answers === "events-with-ids"
        ? `id: ${session.streams.indexOf(stream)}-${stream.events.length}\n`
        : "";
    stream.response?.write(`${id}data: ${message}\n\n`);
  };
  const finish = (stream: Stream): void => {
    stream.done = true;
    stream.response?.end();
  };
  const newStream = (session: Session, response: ServerResponse | undefined): Stream => {
    const stream: Stream = { events: [], response, done: false };
    session.streams.push(stream);
    response?.on("close", () => {
      if (stream.response === response) stream.response = undefined;
    });
    return stream;
  };

  const legacyCall = (
    session: Session,
    { id, params }: Request,
    response: ServerResponse,
  ): void => {
    const { key = "", ms = 0 } = params.arguments ?? {};
    const streams = answers !== "json" && !isOldest;
    if (streams) openEvents(response);
    const stream = streams ? newStream(session, response) : undefined;
    if (stream !== undefined && answers === "events-with-ids") push(session, stream, "");
    const answer = (message: string): void => {
      session.running.delete(String(id));
      if (stream === undefined) reply(session, response, message);
      else {
        push(session, stream, message);
        finish(stream);
      }
    };
    const work = (): void => {
      const timer = setTimeout(() => answer(result(id, text(key))), ms);
      session.running.set(String(id), () => clearTimeout(timer));
    };
    ran(key);
    session.running.set(String(id), () => undefined);
    if (params.name === "work") work();
    else if (params.name === "ask") {
      const question = nextQuestion++;
      session.waiting.set(question, work);
      const asked = JSON.stringify({
        jsonrpc: "2.0",
        id: question,
        method: "elicitation/create",
        params: QUESTION,
      });
      push(session, stream ?? session.listening, asked);
    }
    if (isOldest) send(response, 202, "Accepted");
  };

  /** An answer that is there at once: as the response, or on the one stream. */
  const reply = (session: Session, response: ServerResponse, message: string): void => {
    if (!isOldest) {
      send(response, 200, message);
      return;
    }
    push(session, session.listening, message);
    if (!response.headersSent) send(response, 202, "Accepted");
  };

  const legacyMessage = (
    session: Session,
    message: Json & Partial<Request>,
    response: ServerResponse,
  ): void => {
    if (message.method === undefined) {
      session.waiting.get(Number(message.id))?.();
      session.waiting.delete(Number(message.id));
      send(response, 202);
    } else if (message.id === undefined) {
      if (message.method === "notifications/cancelled") {
        const id = String(message.params?.["requestId"]);
        cancelled.push(id);
        session.running.get(id)?.();
        session.running.delete(id);
      }
      send(response, 202);
    } else if (message.method === "tools/call") legacyCall(session, message as Request, response);
    else if (message.method === "tools/list") {
      reply(session, response, result(message.id, { tools: TOOLS }));
    } else if (message.method === "initialize") {
      reply(session, response, result(message.id, INITIALIZED));
    } else if (message.method === "ping") reply(session, response, result(message.id, {}));
    else reply(session, response, failure(message.id, -32601));
  };

  const openSession = (): readonly [string, Session] => {
    const id = randomUUID();
    const listening: Stream = { events: [], response: undefined, done: false };
    const session = { streams: [listening], listening, waiting: new Map(), running: new Map() };
    sessions.set(id, session);
    return [id, session];
  };

  const legacyPost = (request: IncomingMessage, body: string, response: ServerResponse): void => {
    const message = JSON.parse(body) as Json & Partial<Request>;
    const named = isOldest
      ? new URL(request.url ?? "", "http://x").searchParams.get("session")
      : request.headers["mcp-session-id"];
    const session = sessions.get(String(named));
    if (message.method === "initialize" && !isOldest) {
      const [id] = openSession();
      send(response, 200, result(message.id, INITIALIZED), { "mcp-session-id": id });
    } else if (session === undefined) {
      send(response, message.method === "server/discover" ? 400 : 404);
    } else legacyMessage(session, message, response);
  };

  /** The stream is the session, and its end the end of the session. */
  const oldestGet = (response: ServerResponse): void => {
    const [id, session] = openSession();
    openEvents(response);
    session.listening.response = response;
    response.write(`event: endpoint\ndata: /mcp?session=${id}\n\n`);
    response.on("close", () => {
      for (const stop of session.running.values()) stop();
      sessions.delete(id);
    });
  };

  /** A GET takes the stream for everything else, or takes up one that was cut. */
  const legacyGet = (request: IncomingMessage, response: ServerResponse): void => {
    const session = sessions.get(String(request.headers["mcp-session-id"]));
    const [index, seen] = String(request.headers["last-event-id"] ?? "0-").split("-");
    const stream = session?.streams[Number(index)];
    if (session === undefined || stream === undefined) {
      send(response, 404);
      return;
    }
    openEvents(response);
    stream.response?.destroy();
    stream.response = response;
    response.on("close", () => {
      if (stream.response === response) stream.response = undefined;
    });
    if (seen !== "") {
      stream.events.forEach((message, at) => {
        if (at + 1 > Number(seen)) response.write(`id: ${index}-${at + 1}\ndata: ${message}\n\n`);
      });
    }
    if (stream.done) response.end();
  };

  const modernListen = ({ id, params }: Request, response: ServerResponse): void => {
    openEvents(response);
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const acknowledged = {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications: params["notifications"] },
    };
    response.write(`data: ${JSON.stringify(acknowledged)}\n\n`);
  };

  const modernCall = (
    { id, params }: Request,
    response: ServerResponse,
    answer: (message: string) => void,
  ): void => {
    const { key = "", ms = 0 } = params.arguments ?? {};
    if (params.name === "ask" && params["inputResponses"] === undefined) {
      const inputRequests = { e: { method: "elicitation/create", params: QUESTION } };
      answer(result(id, { resultType: "input_required", inputRequests, requestState: key }));
      return;
    }
    if (answers !== "json") openEvents(response);
    ran(key);
    if (params.name !== "hang") setTimeout(() => answer(result(id, text(key))), ms);
  };

  const modernPost = (body: string, response: ServerResponse): void => {
    const message = JSON.parse(body) as Request;
    const { id, method, params } = message;
    let answered = false;
    const answer = (body: string): void => {
      answered = true;
      if (response.headersSent) response.end(`data: ${body}\n\n`);
      else send(response, 200, body);
    };
    response.on("close", () => {
      if (!answered) cancelled.push(params.arguments?.key ?? method);
    });
    const supportedVersions = ["2026-07-28"];
    const capabilities = { tools: { listChanged: true } };
    if (id === undefined) send(response, 202);
    else if (method === "subscriptions/listen") modernListen(message, response);
    else if (method === "tools/call") modernCall(message, response, answer);
    else if (method === "tools/list") answer(result(id, { ...fields, ...hints, tools: TOOLS }));
    else if (method === "server/discover") {
      answer(result(id, { ...fields, ...hints, supportedVersions, capabilities }));
    } else answer(failure(id, -32601));
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on("error", () => undefined);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString();
    if (era === "modern") {
      if (request.method === "POST") modernPost(body, response);
      else send(response, 405);
    } else if (request.method === "POST") legacyPost(request, body, response);
    else if (request.method === "GET" && isOldest) oldestGet(response);
    else if (request.method === "GET") legacyGet(request, response);
    else {
      sessions.delete(String(request.headers["mcp-session-id"]));
      send(response, 204);
    }
  };

  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const fresh = createServer((request, response) => void handle(request, response));
      server = fresh;
      fresh.once("error", reject);
      fresh.listen(port, "127.0.0.1", () => {
        ({ port } = fresh.address() as AddressInfo);
        resolve();
      });
    });
  const shut = (): Promise<void> =>
    new Promise((resolve) => {
      const old = server;
      server = undefined;
      if (old === undefined) resolve();
      else {
        old.close(() => resolve());
        old.closeAllConnections();
      }
    });
  await listen();

  return {
    url: `http://127.0.0.1:${port}/mcp`,
    runs,
    cancelled,
    get streams() {
      return open.size;
    },
    get sessions() {
      return sessions.size;
    },
    cutConnections: () => server?.closeAllConnections(),
    cutStreams() {
      for (const response of [...open]) response.destroy();
    },
    async crash() {
      for (const session of sessions.values()) for (const stop of session.running.values()) stop();
      sessions = new Map();
      await shut();
    },
    revive: listen,
    close: shut,
  };
}
