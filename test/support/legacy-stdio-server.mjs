// A hand-written legacy stdio server whose behaviour is chosen by its first argument:
//   normal        answers; tools: echo, ask (elicits), hang (never answers), die (exits in the middle)
//   mute          reads and answers nothing
//   dies          exits 3 at once, with a line on stderr
//   dies-on-probe exits when its first message is not initialize
import { createInterface } from "node:readline";

const [mode = "normal"] = process.argv.slice(2);
if (mode === "dies") {
  process.stderr.write("cannot find my database\n");
  process.exit(3);
}

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();
let nextId = 100;
let first = true;
const notes = [];

function initialize(id) {
  const result = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "hand-written", version: "1" },
  };
  send({ id, result });
}

function callTool(id, { name, arguments: args = {} }) {
  const text = (value) => send({ id, result: { content: [{ type: "text", text: value }] } });
  if (name === "echo") text(JSON.stringify(args));
  else if (name === "notes") text(JSON.stringify(notes));
  else if (name === "die") process.exit(4);
  else if (name === "ask") {
    const askId = nextId++;
    waiting.set(askId, (answer) => text(`answered ${JSON.stringify(answer)}`));
    const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } } };
    send({ id: askId, method: "elicitation/create", params: { message: "ok?", requestedSchema } });
  } else if (name !== "hang")
    send({ id, error: { code: -32602, message: `unknown tool ${name}` } });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (mode === "mute") return;
  if (first && mode === "dies-on-probe" && message.method !== "initialize") process.exit(1);
  first = false;
  if (message.method === "initialize") initialize(message.id);
  else if (message.method === "tools/list") {
    const tools = ["echo", "notes", "ask", "hang", "die"];
    send({
      id: message.id,
      result: { tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) },
    });
  } else if (message.method === "tools/call") callTool(message.id, message.params);
  else if (message.method === undefined) {
    waiting.get(message.id)?.(message.result ?? message.error);
    waiting.delete(message.id);
  } else if (message.id === undefined) notes.push(message);
  else send({ id: message.id, error: { code: -32601, message: "Method not found" } });
});
