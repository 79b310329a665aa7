// rules: input-requests, elicitation, sampling, roots, structured-content, progress
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport, Client as V2Client } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as V1Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI, type RunningProcess, startProcess, startServe } from "../support/process.js";

const STORY = [
  "--import",
  createRequire(import.meta.url).resolve("tsx"),
  fileURLToPath(new URL("../support/modern-story-server.ts", import.meta.url)),
];

const running: RunningProcess[] = [];
afterAll(() => Promise.all(running.map((each) => each.stop())));

/** The story server as an upstream of the command line. */
async function upstream(transport: "http" | "stdio"): Promise<readonly string[]> {
  if (transport === "stdio") return [process.execPath, ...STORY, "--stdio"];
  const server = startProcess(process.execPath, [...STORY, "--http"]);
  running.push(server);
  const [, url = ""] = await server.waitFor(/"url":"([^"]+)"/);
  return [url];
}

async function serve(target: readonly string[]): Promise<string> {
  const started = await startServe(target);
  running.push(started.process);
  return started.url;
}

type Way = "stdio" | "streamable" | "sse";

async function connect(way: Way, target: readonly string[], client: Client): Promise<void> {
  if (way === "stdio") {
    const args = [CLI, "wrap", "--", ...target];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      stderr: "ignore",
    });
    await client.connect(transport);
    return;
  }
  const url = await serve(target);
  const transport =
    way === "streamable"
      ? new V1Http(new URL(url))
      : new SSEClientTransport(new URL(url.replace(/\/mcp$/, "/sse")));
  await client.connect(transport as Parameters<Client["connect"]>[0]);
}

const firstText = (result: unknown): string =>
  (result as { content: { text: string }[] }).content[0]?.text ?? "";

/** Waits for something that happens soon, or fails. */
async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  expect.unreachable("it did not happen in time");
}

const cells: readonly (readonly [Way, "http" | "stdio"])[] = [
  ["stdio", "http"],
  ["stdio", "stdio"],
  ["streamable", "http"],
  ["streamable", "stdio"],
  ["sse", "http"],
  ["sse", "stdio"],
];

describe.each(cells)(
  "the v1 client over %s in front of a modern-only server over %s",
  (way, to) => {
    const client = new Client(
      { name: "legacy", version: "1.0.0" },
      {
        capabilities: {
          elicitation: { form: {}, url: {} },
          sampling: { tools: {} },
          roots: { listChanged: true },
        },
      },
    );
    const seen: string[] = [];
    const visits: unknown[] = [];

    beforeAll(async () => {
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        visits.push(params);
        return { action: "accept" };
      });
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///r" }] }));
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        const last = params.messages.at(-1);
        const asked = JSON.stringify(last).includes("tool_result");
        return asked
          ? {
              role: "assistant" as const,
              model: "m",
              content: { type: "text" as const, text: "it is sunny" },
            }
          : {
              role: "assistant" as const,
              model: "m",
              stopReason: "toolUse",
              content: { type: "tool_use" as const, id: "use-1", name: "weather", input: {} },
            };
      });
      client.setNotificationHandler(
        ToolListChangedNotificationSchema,
        () => void seen.push("tools"),
      );
      client.setNotificationHandler(
        ResourceUpdatedNotificationSchema,
        ({ params }) => void seen.push(params.uri),
      );
      client.setNotificationHandler(
        ElicitationCompleteNotificationSchema,
        ({ params }) => void seen.push(`done ${params.elicitationId}`),
      );
      await connect(way, await upstream(to), client);
    }, 60_000);
    afterAll(() => client.close());

    test("knows the server and what it offers", async () => {
      expect(client.getServerVersion()).toMatchObject({ name: "modern-story", version: "1.0.0" });
      expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(["story://page"]);
      expect(await client.readResource({ uri: "story://page" })).toEqual({
        contents: [{ uri: "story://page", mimeType: "text/plain", text: "a page" }],
      });
      expect(await client.ping()).toEqual({});
    });

    test("validates structured output that is no object, because it was advertised wrapped", async () => {
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "numbers")?.outputSchema).toMatchObject({
        type: "object",
        required: ["result"],
      });
      expect(await client.callTool({ name: "numbers" })).toMatchObject({
        structuredContent: { result: [1, 2] },
      });
    });

    test("sends its user to a URL once, and hears when that is over", async () => {
      visits.length = 0;
      expect(firstText(await client.callTool({ name: "visit" }))).toBe("action=accept");
      expect(visits).toMatchObject([{ mode: "url", url: "https://x.invalid/login" }]);
      const { elicitationId } = visits[0] as { elicitationId: string };
      await until(() => seen.includes(`done ${elicitationId}`));
    });

    test("lets its model use the server's tools", async () => {
      expect(firstText(await client.callTool({ name: "agent" }))).toBe("it is sunny");
    });

    test("sees progress and large results, and errors as results", async () => {
      const progress: number[] = [];
      const slow = await client.callTool({ name: "slow", arguments: { ms: 50 } }, undefined, {
        onprogress: (step) => void progress.push(step.progress),
      });
      expect([firstText(slow), progress]).toEqual(["done", [1]]);
      const big = await client.callTool({ name: "big", arguments: { length: 5_000_000 } });
      expect(firstText(big)).toHaveLength(5_000_000);
      expect(await client.callTool({ name: "broken" })).toMatchObject({ isError: true });
      await expect(client.callTool({ name: "unknown" })).rejects.toMatchObject({ code: -32602 });
    });

    test("hears of changes it subscribed to", async () => {
      seen.length = 0;
      await client.subscribeResource({ uri: "story://page" });
      await client.callTool({ name: "edit" });
      await until(() => seen.includes("tools") && seen.includes("story://page"));
      await client.unsubscribeResource({ uri: "story://page" });
      seen.length = 0;
      await client.callTool({ name: "edit" });
      await until(() => seen.includes("tools"));
      expect(seen).not.toContain("story://page");
    });

    test("cancels a call at the server", async () => {
      const count = async (): Promise<number> =>
        Number(firstText(await client.callTool({ name: "cancelled" })));
      const before = await count();
      const abort = new AbortController();
      const hanging = client.callTool({ name: "hang" }, undefined, { signal: abort.signal });
      const failed = expect(hanging).rejects.toThrow();
      await new Promise((resolve) => setTimeout(resolve, 200));
      abort.abort("enough");
      await failed;
      await until(async () => (await count()) === before + 1);
    });
  },
);

test("the v2 client, which opens a legacy session by default, uses a modern-only server too", async () => {
  const url = await serve(await upstream("http"));
  const client = new V2Client({ name: "v2", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("numbers");
  expect(await client.callTool({ name: "slow", arguments: { ms: 1 } })).toMatchObject({
    content: [{ text: "done" }],
  });
  await client.close();
}, 60_000);

test("a connection that is cut in the middle of a call brings the answer after coming back", async () => {
  const url = await serve(await upstream("http"));
  const post = (message: object, headers: Record<string, string>, signal?: AbortSignal) =>
    fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal === undefined ? {} : { signal }),
    });
  const open = async (): Promise<Record<string, string>> => {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const reply = await post({ id: 0, method: "initialize", params }, {});
    const headers = { "mcp-session-id": reply.headers.get("mcp-session-id") ?? "" };
    await post({ method: "notifications/initialized" }, headers);
    return headers;
  };
  const mine = await open();
  const others = await open();
  const cut = new AbortController();
  const params = { name: "slow", arguments: { ms: 1_000 }, _meta: { progressToken: "p" } };
  const reply = await post({ id: 1, method: "tools/call", params }, mine, cut.signal);
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("notifications/progress")) text += (await reader?.read())?.value ?? "";
  cut.abort();
  const lastEventId = [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? "";
  const resume = (session: Record<string, string>) =>
    fetch(url, {
      headers: { accept: "text/event-stream", "last-event-id": lastEventId, ...session },
    });
  const foreign = await resume(others);
  expect([foreign.status, await foreign.text()]).toMatchObject([
    400,
    expect.not.stringContaining("done"),
  ]);
  const resumed = await (await resume(mine)).text();
  expect(resumed).toContain('"id":1,"result":{"content":[{"type":"text","text":"done"}]}');
  const counted = await post({ id: 2, method: "tools/call", params: { name: "cancelled" } }, mine);
  expect(await counted.text()).toContain('"text":"0"');
}, 60_000);
