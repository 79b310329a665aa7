/**
 * A modern-only server with what the everything server lacks: URL elicitation, sampling with tools,
 * a call that ends only when it is cancelled, structured output that is no object.
 *
 *   tsx modern-story-server.ts --http    prints {"url":"..."} as first line
 *   tsx modern-story-server.ts --stdio
 */
import { createServer } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const PAGE = "story://page";

/** What outlives a request. */
const world = { cancelled: 0, visits: 0 };

interface Announce {
  toolsChanged(server: McpServer): unknown;
  pageUpdated(server: McpServer): unknown;
}

const text = (value: unknown) => ({ content: [{ type: "text" as const, text: String(value) }] });

function createStoryServer(announce: Announce): McpServer {
  const server = new McpServer(
    { name: "modern-story", version: "1.0.0" },
    {
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    },
  );
  server.registerTool(
    "numbers",
    { description: "Structured output that is a list", outputSchema: z.array(z.number()) },
    () => ({ ...text("[1,2]"), structuredContent: [1, 2] }),
  );
  server.registerTool("visit", { description: "Sends the user to a URL" }, (context) => {
    const answer = context.mcpReq.inputResponses?.["there"];
    if (answer === undefined) {
      const there = inputRequired.elicitUrl({ message: "Sign in", url: "https://x.invalid/login" });
      return inputRequired({ inputRequests: { there } });
    }
    world.visits += 1;
    // The user is still busy the first time the server is asked again.
    if (world.visits % 2 === 1) {
      const there = inputRequired.elicitUrl({ message: "Sign in", url: "https://x.invalid/login" });
      return inputRequired({ inputRequests: { there } });
    }
    return text(`action=${(answer as { action: string }).action}`);
  });
  server.registerTool("agent", { description: "Lets the client's model use a tool" }, (context) => {
    const { inputResponses = {} } = context.mcpReq;
    const first = inputResponses["first"] as { content: unknown } | undefined;
    const second = inputResponses["second"] as { content: { text: string } } | undefined;
    if (second !== undefined) return text(second.content.text);
    return first === undefined ? askModel("first") : askModel("second", first.content);
  });
  server.registerTool("hang", { description: "Ends when it is cancelled" }, (context) => {
    const { signal } = context.mcpReq;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        world.cancelled += 1;
        resolve(text("cancelled"));
      });
    });
  });
  server.registerTool("cancelled", { description: "Counts cancellations" }, () =>
    text(world.cancelled),
  );
  server.registerTool(
    "slow",
    { description: "Takes its time", inputSchema: z.object({ ms: z.number() }) },
    async ({ ms }, context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) {
        const params = { progressToken, progress: 1, total: 2 };
        await context.mcpReq.notify({ method: "notifications/progress", params });
      }
      await new Promise((resolve) => setTimeout(resolve, ms));
      return text("done");
    },
  );
  server.registerTool("edit", { description: "Changes the page and the tools" }, async () => {
    await announce.pageUpdated(server);
    await announce.toolsChanged(server);
    return text("edited");
  });
  server.registerTool(
    "big",
    { description: "A long text", inputSchema: z.object({ length: z.number() }) },
    ({ length }) => text("x".repeat(length)),
  );
  server.registerTool("broken", { description: "Fails" }, () => {
    throw new Error("it broke");
  });
  server.registerResource("page", PAGE, { mimeType: "text/plain" }, () => ({
    contents: [{ uri: PAGE, mimeType: "text/plain", text: "a page" }],
  }));
  return server;
}

function askModel(key: string, used?: unknown): InputRequiredResult {
  const question = {
    role: "user" as const,
    content: { type: "text" as const, text: "weather?" },
  };
  const result = {
    role: "user" as const,
    content: {
      type: "tool_result" as const,
      toolUseId: "use-1",
      content: [{ type: "text" as const, text: "sunny" }],
    },
  };
  const messages = used === undefined ? [question] : [question, assistantUse(used), result];
  const tool = { name: "weather", inputSchema: { type: "object" as const } };
  const params = { messages, maxTokens: 50, tools: [tool] } as Parameters<
    typeof inputRequired.createMessage
  >[0];
  return inputRequired({ inputRequests: { [key]: inputRequired.createMessage(params) } });
}

function assistantUse(content: unknown) {
  return { role: "assistant" as const, content: content as never };
}

function serveHttp(): void {
  const endpoint = createMcpHandler(
    () =>
      createStoryServer({
        toolsChanged: () => endpoint.notify.toolsChanged(),
        pageUpdated: () => endpoint.notify.resourceUpdated(PAGE),
      }),
    { legacy: "reject" },
  );
  const handle = toNodeHandler(endpoint);
  const server = createServer((request, response) => {
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    void handle(request as NodeIncomingMessageLike, response);
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
  });
}

if (process.argv.includes("--stdio")) {
  const toolsChanged = (server: McpServer) => server.sendToolListChanged();
  const pageUpdated = (server: McpServer) => server.server.sendResourceUpdated({ uri: PAGE });
  serveStdio(() => createStoryServer({ toolsChanged, pageUpdated }), { legacy: "reject" });
} else serveHttp();
