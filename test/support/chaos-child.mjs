// A server on standard input and output that is meant to be killed: it writes what it does to a file
// before it does it, so that a test can count what was done however it ended.
//   node chaos-child.mjs legacy|modern <ledger file>
// Tools: work (answers with its key after `ms`), ask (asks the user, then works), hang (never answers;
// notes its cancellation), die (exits in the middle).
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [era, ledger] = process.argv.slice(2);
const note = (line) => appendFileSync(ledger, `${line}\n`);
note(`start ${process.pid}`);

const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();
const running = new Map();
let nextId = 0;

const schema = { type: "object" };
const TOOLS = ["work", "ask", "hang", "die"].map((name) => ({ name, inputSchema: schema }));
const QUESTION = {
  message: "go on?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
};
const fields = era === "modern" ? { resultType: "complete" } : {};
const hints = era === "modern" ? { ttlMs: 0, cacheScope: "private" } : {};
const text = (value) => ({ ...fields, content: [{ type: "text", text: value }] });
const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "chaos", version: "1" },
};
const DISCOVERED = {
  ...fields,
  ...hints,
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: { listChanged: true } },
};

function work(id, key, ms) {
  running.set(
    id,
    setTimeout(() => {
      running.delete(id);
      write({ id, result: text(key) });
    }, ms ?? 0),
  );
}

function call(id, { name, arguments: { key = "", ms } = {}, inputResponses }) {
  const asks = name === "ask" && era === "modern" && inputResponses === undefined;
  if (!asks) note(`run ${key}`);
  if (name === "work") work(id, key, ms);
  else if (name === "die") process.exit(7);
  else if (name === "hang")
    running.set(
      id,
      setTimeout(() => undefined, 1e9),
    );
  else if (asks) {
    const inputRequests = { e: { method: "elicitation/create", params: QUESTION } };
    write({ id, result: { resultType: "input_required", inputRequests, requestState: key } });
  } else if (name === "ask" && era === "modern") work(id, key, ms);
  else if (name === "ask") {
    const question = nextId++;
    waiting.set(question, () => work(id, key, ms));
    write({ id: question, method: "elicitation/create", params: QUESTION });
  } else write({ id, error: { code: -32602, message: `unknown tool ${name}` } });
}

function request({ id, method, params }) {
  if (method === "tools/call") call(id, params);
  else if (method === "tools/list") write({ id, result: { ...fields, ...hints, tools: TOOLS } });
  else if (method === "initialize" && era === "legacy") write({ id, result: INITIALIZED });
  else if (method === "server/discover" && era === "modern") write({ id, result: DISCOVERED });
  else if (method === "ping" && era === "legacy") write({ id, result: {} });
  else if (method === "subscriptions/listen" && era === "modern") {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const { notifications } = params;
    write({ method: "notifications/subscriptions/acknowledged", params: { _meta, notifications } });
  } else write({ id, error: { code: -32601, message: "Method not found" } });
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) {
      waiting.get(message.id)?.();
      waiting.delete(message.id);
    } else if (message.id !== undefined) request(message);
    else if (message.method === "notifications/cancelled") {
      const { requestId } = message.params;
      note(`cancelled ${requestId}`);
      clearTimeout(running.get(requestId));
      running.delete(requestId);
    }
  })
  .on("close", () => process.exit(0));
