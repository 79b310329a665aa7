// A legacy server on standard input and output that does not want to go: it outlives the end of its input
// and every signal that can be refused, and so does the process it starts.
//   node stubborn-server.mjs <ledger file> [polite|mute]
// The ledger has a line `pid N` for each of the two. A polite one starts nothing and goes with its input;
// a mute one says nothing.
// Tools: slow (takes its time), big (answers with a megabyte), hang (never answers), ask (asks the user).
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [ledger, manners] = process.argv.slice(2);
const note = (line) => appendFileSync(ledger, `${line}\n`);
note(`pid ${process.pid}`);

if (manners !== "polite") {
  const ignore = `for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
    setInterval(() => undefined, 1e6);`;
  const child = spawn(process.execPath, ["-e", ignore], { stdio: "ignore" });
  note(`pid ${child.pid}`);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(signal, () => note(`refused ${signal}`));
  }
  setInterval(() => undefined, 1e6);
}

const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const RESULTS = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "stubborn", version: "1" },
  },
  "tools/list": { tools: [{ name: "slow", inputSchema: { type: "object" } }] },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  if (manners === "mute") return;
  const { id, method, params } = JSON.parse(line);
  if (method === undefined || id === undefined) note(`got ${line}`);
  else if (method !== "tools/call") {
    const result = RESULTS[method];
    write(result ? { id, result } : { id, error: { code: -32601, message: "no" } });
  } else {
    note(`call ${params.name}`);
    if (params.name === "slow") setTimeout(() => write({ id, result: text("done") }), 600);
    else if (params.name === "big") write({ id, result: text("x".repeat(1_000_000)) });
    else if (params.name === "ask") {
      const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } } };
      const question = { message: "?", requestedSchema };
      write({ id: 1, method: "elicitation/create", params: question });
    }
  }
});
