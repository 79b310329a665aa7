// A server on the official v1 SDK that writes down when its tools start and when their signals abort.
//   node watchful-server.mjs stdio|events|json <ledger file>
// Over HTTP the first line of standard output is {"url":"..."}.
// Tools: hang (ends when it is cancelled), ask (asks the user, then hangs), slow (progress, then a result
// after `ms`).
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";

const [how, ledger] = process.argv.slice(2);
const note = (line) => appendFileSync(ledger, `${line}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const inputSchema = { key: z.string(), ms: z.number().optional() };

const untilCancelled = (key, { signal, requestId }) => {
  note(`start ${key}`);
  return new Promise((resolve) => {
    const end = () => {
      note(`aborted ${key} ${requestId}`);
      resolve(text("aborted"));
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
};

function createWatchful() {
  const server = new McpServer({ name: "watchful", version: "1.0.0" });
  server.registerTool("hang", { inputSchema }, ({ key }, extra) => untilCancelled(key, extra));
  server.registerTool("ask", { inputSchema }, async ({ key }, extra) => {
    extra.signal.addEventListener("abort", () => note(`aborted ${key} ${extra.requestId}`));
    const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } } };
    const params = { message: "go on?", requestedSchema };
    const { ElicitResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const answer = await extra
      .sendRequest({ method: "elicitation/create", params }, ElicitResultSchema)
      .catch((error) => ({ action: `failed: ${error.message}` }));
    note(`answer ${key} ${answer.action}`);
    return extra.signal.aborted ? text("aborted") : untilCancelled(key, extra);
  });
  server.registerTool("slow", { inputSchema }, async ({ key, ms }, extra) => {
    extra.signal.addEventListener("abort", () => note(`aborted ${key} ${extra.requestId}`));
    note(`start ${key}`);
    const progressToken = extra._meta?.progressToken;
    const params = { progressToken, progress: 1 };
    if (progressToken !== undefined) {
      await extra.sendNotification({ method: "notifications/progress", params });
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
    note(`end ${key}`);
    return text(key);
  });
  return server;
}

if (how === "stdio") await createWatchful().connect(new StdioServerTransport());
else {
  const sessions = new Map();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: how === "json",
      onsessioninitialized: (id) => sessions.set(id, transport),
      onsessionclosed: (id) => sessions.delete(id),
    });
    await createWatchful().connect(transport);
    return transport;
  };
  const server = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const transport = id === undefined ? await open() : sessions.get(id);
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response);
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
  });
}
