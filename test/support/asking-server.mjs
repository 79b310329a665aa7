// A legacy stdio server on the official v1 SDK whose questions name no call: `ask` elicits with
// `server.elicitInput`, `work` only takes its time. Both say which call they are.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "asking", version: "1.0.0" });
const inputSchema = { who: z.string() };
const requestedSchema = { type: "object", properties: { who: { type: "string" } } };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let atWork = 0;
let mostAtWork = 0;

server.registerTool("ask", { inputSchema }, async ({ who }) => {
  await pause(50);
  const answer = await server.server.elicitInput({ message: who, requestedSchema });
  return { content: [{ type: "text", text: `${who} heard ${answer.content?.who}` }] };
});
server.registerTool("work", { inputSchema }, async ({ who }) => {
  atWork += 1;
  mostAtWork = Math.max(mostAtWork, atWork);
  await pause(300);
  atWork -= 1;
  return { content: [{ type: "text", text: `${who} worked` }] };
});
server.registerTool("most-at-work", {}, async () => ({
  content: [{ type: "text", text: `${mostAtWork}` }],
}));

await server.connect(new StdioServerTransport());
