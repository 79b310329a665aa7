import type { Message } from "../../src/jsonrpc/message.js";
import { errorText, parseMessage, resultText } from "../../src/jsonrpc/message.js";
import type { Link, LinkLoss, LinkReceiver } from "../../src/upstream/link.js";

/** One request of the bridge as the server sees it. */
export interface SeenRequest {
  readonly id: number;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly params: any;
  readonly session: ServerSession;
}

/** The server's end of one link. */
export interface ServerSession {
  readonly index: number;
  /** Every text the bridge sent, in order. */
  readonly texts: readonly string[];
  /** `method` of requests and notifications, `answer <id>` of answers, in order. */
  readonly log: readonly string[];
  reply(request: SeenRequest, result: unknown): void;
  replyText(request: SeenRequest, result: string): void;
  fail(request: SeenRequest, code: number, message: string, data?: unknown): void;
  /** Asks the bridge something; `cause` puts it on that request's own stream. Returns its id. */
  ask(method: string, params?: unknown, cause?: SeenRequest): string;
  tell(method: string, params?: unknown, cause?: SeenRequest): void;
  progress(request: SeenRequest, progress: number): void;
  /** What the bridge answered to a question: the result, or the error under `error`. */
  answerTo(id: string): unknown;
  lose(request: SeenRequest, loss: LinkLoss): void;
  /** The server goes away. */
  crash(detail?: string): void;
  readonly closed: boolean;
  /** Ids of requests the bridge cancelled. */
  readonly cancelled: readonly number[];
}

export interface ScriptedServer {
  openLink(): Promise<Link>;
  readonly sessions: readonly ServerSession[];
  /** Requests but for `initialize`, of all sessions, in order. */
  readonly requests: readonly SeenRequest[];
  /** The newest request of a method. */
  last(method: string): SeenRequest;
  /** The session of the newest link. */
  readonly session: ServerSession;
}

export interface ScriptedServerOptions {
  readonly associates?: boolean;
  readonly listens?: boolean;
  readonly capabilities?: unknown;
  /** What to do with requests; unanswered where it does nothing. */
  readonly handle?: (request: SeenRequest) => void;
  /** Instead of the ordinary answer to `initialize`. */
  readonly initialize?: (request: SeenRequest) => void;
  readonly onInitialized?: (session: ServerSession) => void;
  /** Throws, or waits, before a link opens; the argument counts from 0. */
  readonly beforeOpen?: (index: number) => Promise<void> | void;
}

const ALL_CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
};

/** A legacy server whose behaviour a test writes, behind a link without any transport. */
export function createScriptedServer(options: ScriptedServerOptions = {}): ScriptedServer {
  const sessions: ServerSession[] = [];
  const requests: SeenRequest[] = [];
  let opened = 0;

  const openLink = async (): Promise<Link> => {
    await options.beforeOpen?.(opened++);
    const { link, session } = connect(sessions.length, options, requests);
    sessions.push(session);
    return link;
  };

  return {
    openLink,
    sessions,
    requests,
    last(method) {
      const found = requests.findLast((request) => request.method === method);
      if (found === undefined) throw new Error(`the server saw no ${method}`);
      return found;
    },
    get session() {
      const newest = sessions.at(-1);
      if (newest === undefined) throw new Error("no link was opened");
      return newest;
    },
  };
}

function connect(index: number, options: ScriptedServerOptions, requests: SeenRequest[]) {
  const associates = options.associates ?? false;
  const texts: string[] = [];
  const log: string[] = [];
  const cancelled: number[] = [];
  const answers = new Map<string, unknown>();
  const open = new Set<number>();
  let receiver: LinkReceiver | undefined;
  let ended = false;
  let questions = 0;

  const deliver = (text: string, origin?: number): void => {
    const message = parseMessage(text);
    if (message.type === "batch" || message.type === "malformed") throw new Error(text);
    if (ended) return;
    if (message.type === "response" || message.type === "error") {
      if (!open.delete(Number(message.id))) return;
    }
    receiver?.message(message as Message, associates ? origin : undefined);
  };
  const lose = (id: number, loss: LinkLoss): void => {
    if (open.delete(id)) receiver?.lost(id, loss);
  };
  const end = (detail: string): void => {
    if (ended) return;
    for (const id of [...open]) lose(id, { kind: "broken", detail });
    ended = true;
    receiver?.closed(detail);
  };

  const session: ServerSession = {
    index,
    texts,
    log,
    cancelled,
    reply: (request, result) => session.replyText(request, JSON.stringify(result)),
    replyText: ({ id }, result) => deliver(resultText(String(id), result), id),
    fail: ({ id }, code, message, data) =>
      deliver(errorText(String(id), JSON.stringify({ code, message, data })), id),
    ask(method, params, cause) {
      const id = `"q${++questions}"`;
      const text = JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(id), method, params });
      deliver(text, cause?.id);
      return id;
    },
    tell: (method, params, cause) =>
      deliver(JSON.stringify({ jsonrpc: "2.0", method, params }), cause?.id),
    progress(request, progress) {
      const progressToken = request.params._meta?.progressToken;
      session.tell("notifications/progress", { progressToken, progress }, request);
    },
    answerTo: (id) => answers.get(id),
    lose: ({ id }, loss) => lose(id, loss),
    crash: (detail = "exit code 1") => end(detail),
    get closed() {
      return ended;
    },
  };

  const see = (text: string): void => {
    texts.push(text);
    const message = parseMessage(text);
    switch (message.type) {
      case "request": {
        log.push(message.method);
        const params = message.params === undefined ? undefined : JSON.parse(message.params);
        const request = { id: Number(message.id), method: message.method, params, session };
        if (message.method === "initialize") initialize(request);
        else {
          requests.push(request);
          queueMicrotask(() => options.handle?.(request));
        }
        return;
      }
      case "notification":
        log.push(message.method);
        if (message.method === "notifications/initialized") {
          queueMicrotask(() => options.onInitialized?.(session));
        }
        return;
      case "response":
        log.push(`answer ${message.id}`);
        answers.set(message.id, JSON.parse(message.result));
        return;
      case "error":
        log.push(`answer ${message.id}`);
        answers.set(message.id ?? "", { error: JSON.parse(message.error) });
        return;
      default:
        throw new Error(`the bridge sent ${text}`);
    }
  };

  const initialize = (request: SeenRequest): void => {
    queueMicrotask(() => {
      if (options.initialize !== undefined) options.initialize(request);
      else {
        session.reply(request, {
          protocolVersion: "2025-11-25",
          capabilities: options.capabilities ?? ALL_CAPABILITIES,
          serverInfo: { name: "scripted", version: "1" },
        });
      }
    });
  };

  const link: Link = {
    associates,
    listens: options.listens ?? true,
    start(to) {
      receiver = to;
    },
    request({ id, text }) {
      open.add(id);
      if (ended) queueMicrotask(() => lose(id, { kind: "not-sent", detail: "gone" }));
      else see(text);
    },
    send(text) {
      if (!ended) see(text);
    },
    cancel(id) {
      if (!open.delete(id)) return;
      cancelled.push(id);
      log.push(`cancel ${id}`);
    },
    established: () => Promise.resolve(),
    async close() {
      end("closed by the bridge");
    },
  };
  return { link, session };
}
