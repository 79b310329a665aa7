import { Pool } from "undici";
import type { RunningCli } from "./cli.js";
import { ENVELOPE } from "./raw-modern-client.js";

/** How a client saw the end of one call. */
export type Ending =
  | { readonly type: "answered"; readonly text: string }
  | {
      readonly type: "failed";
      readonly code: number;
      readonly reason: string;
      readonly message: string;
    };

/** A client that notices what must never happen. */
export interface ChaosClient {
  /** Calls a tool and answers what it asks. Rejects when there is no answer, or more than one. */
  call(tool: string, key: string, ms: number): Promise<Ending>;
  /** Answers that nobody waited for. */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

interface Wire {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: {
    readonly resultType?: string;
    readonly requestState?: string;
    readonly inputRequests?: Record<string, unknown>;
    readonly content?: readonly { readonly text: string }[];
  };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly reason?: string };
  };
}

const ACCEPTED = { action: "accept", content: { ok: true } };
const CAPABILITIES = { elicitation: {} };
const _meta = { ...ENVELOPE, "io.modelcontextprotocol/clientCapabilities": CAPABILITIES };
const JSON_AND_EVENTS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function toEnding({ result, error }: Wire): Ending {
  if (error === undefined) return { type: "answered", text: result?.content?.[0]?.text ?? "" };
  const { code, message, data } = error;
  return { type: "failed", code, message, reason: data?.reason ?? "" };
}

/** Every message of a body, be it JSON or an event stream. */
function messagesIn(text: string): Wire[] {
  if (text.startsWith("{")) return [JSON.parse(text)];
  return [...text.matchAll(/^data: ?(\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

/** The rounds of a call as a modern client makes them; `send` sends one and brings its only answer. */
async function modernRounds(
  send: (params: object) => Promise<Wire>,
  tool: string,
  key: string,
  ms: number,
): Promise<Ending> {
  const params = { name: tool, arguments: { key, ms }, _meta };
  let answer = await send(params);
  for (let round = 0; round < 5 && answer.result?.resultType === "input_required"; round++) {
    const { requestState, inputRequests = {} } = answer.result;
    const keys = Object.keys(inputRequests);
    const inputResponses = Object.fromEntries(keys.map((name) => [name, ACCEPTED]));
    answer = await send({ ...params, inputResponses, requestState });
  }
  return toEnding(answer);
}

export function createModernHttpClient(url: string, token?: string): ChaosClient {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin);
  const strays: string[] = [];
  let nextId = 1;

  const send = async (params: object & { name?: string }): Promise<Wire> => {
    const id = nextId++;
    const response = await pool.request({
      method: "POST",
      path: pathname,
      headers: {
        ...JSON_AND_EVENTS,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": params.name ?? "",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
    });
    const messages = messagesIn(await response.body.text()).filter(({ method }) => !method);
    const [answer] = messages;
    if (answer === undefined || messages.length > 1 || answer.id !== id) {
      throw new Error(`${messages.length} answers to ${id}: ${JSON.stringify(messages)}`);
    }
    return answer;
  };

  return {
    call: (tool, key, ms) => modernRounds(send, tool, key, ms),
    strays,
    close: () => pool.destroy(),
  };
}

/** One line in, one line out; the answers go to whoever waits for their id. */
function createPipe({ child }: RunningCli, onRequest: (message: Wire) => void) {
  const waiting = new Map<unknown, (message: Wire) => void>();
  const strays: string[] = [];
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  const take = (line: string): void => {
    const message = JSON.parse(line) as Wire;
    if (message.method !== undefined) {
      if (message.id !== undefined) onRequest(message);
      return;
    }
    const settle = waiting.get(message.id);
    waiting.delete(message.id);
    if (settle === undefined) strays.push(line);
    else settle(message);
  };
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let nextId = 1;
  return {
    strays,
    write,
    ask: (method: string, params: object): Promise<Wire> =>
      new Promise((resolve) => {
        const id = nextId++;
        waiting.set(id, resolve);
        write({ id, method, params });
      }),
  };
}

export function createModernStdioClient(cli: RunningCli): ChaosClient {
  const pipe = createPipe(cli, (message) => pipe.strays.push(JSON.stringify(message)));
  return {
    call: (tool, key, ms) =>
      modernRounds((params) => pipe.ask("tools/call", params), tool, key, ms),
    strays: pipe.strays,
    close: async () => void cli.child.stdin.end(),
  };
}

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: CAPABILITIES,
  clientInfo: { name: "chaos", version: "1" },
};

export async function createLegacyStdioClient(cli: RunningCli): Promise<ChaosClient> {
  const pipe = createPipe(cli, ({ id }) => pipe.write({ id, result: ACCEPTED }));
  await pipe.ask("initialize", INITIALIZE);
  pipe.write({ method: "notifications/initialized" });
  return {
    call: async (name, key, ms) =>
      toEnding(await pipe.ask("tools/call", { name, arguments: { key, ms } })),
    strays: pipe.strays,
    close: async () => void cli.child.stdin.end(),
  };
}

/** Reads each answer to its end and answers questions on the way. */
export async function createLegacyHttpClient(url: string): Promise<ChaosClient> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin);
  const listening = new AbortController();
  const strays: string[] = [];
  let session = "";
  let nextId = 1;

  const post = (message: object) =>
    pool.request({
      method: "POST",
      path: pathname,
      headers: { ...JSON_AND_EVENTS, ...(session && { "mcp-session-id": session }) },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const answerQuestion = async ({ id }: Wire): Promise<void> => {
    const { body } = await post({ id, result: ACCEPTED });
    await body.dump();
  };
  /** Messages as they come; questions are answered at once. */
  const read = async (body: AsyncIterable<Buffer>): Promise<Wire[]> => {
    const answers: Wire[] = [];
    let rest = "";
    const take = (text: string): void => {
      for (const message of messagesIn(text)) {
        if (message.method === undefined) answers.push(message);
        else if (message.id !== undefined) void answerQuestion(message);
      }
    };
    for await (const chunk of body) {
      const events = (rest + chunk.toString()).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) take(event);
    }
    if (rest !== "") take(rest);
    return answers;
  };

  const opened = await post({ id: 0, method: "initialize", params: INITIALIZE });
  session = String(opened.headers["mcp-session-id"] ?? "");
  if (session === "") throw new Error(`no session: ${await opened.body.text()}`);
  await opened.body.dump();
  await (await post({ method: "notifications/initialized" })).body.dump();
  void pool
    .request({
      method: "GET",
      path: pathname,
      headers: { accept: "text/event-stream", "mcp-session-id": session },
      signal: listening.signal,
    })
    .then(async ({ body }) => {
      for (const answer of await read(body)) strays.push(JSON.stringify(answer));
    })
    .catch(() => undefined);

  return {
    async call(name, key, ms) {
      const id = nextId++;
      const params = { name, arguments: { key, ms } };
      const { body } = await post({ id, method: "tools/call", params });
      const answers = await read(body);
      const [answer] = answers;
      if (answer === undefined || answers.length > 1 || answer.id !== id) {
        throw new Error(`${answers.length} answers to ${id}: ${JSON.stringify(answers)}`);
      }
      return toEnding(answer);
    },
    strays,
    async close() {
      listening.abort();
      await pool.destroy();
    },
  };
}
