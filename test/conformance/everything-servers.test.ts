import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { type ServerSpec, type ServerTarget, startServer } from "./start-server.js";

interface Peer {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  getPrompt(params: { name: string }): Promise<unknown>;
}

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const elicited = {
  action: "accept" as const,
  content: { name: "Alice", color: "blue", ok: true, context: "testing", value: "v" },
};
const rooted = { roots: [{ uri: "file:///project", name: "project" }] };
const sampled = {
  model: "test-model",
  role: "assistant" as const,
  content: { type: "text" as const, text: "Hello there!" },
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function launch(command: readonly string[]): { command: string; args: string[] } {
  const [file = "", ...args] = command;
  return { command: file, args };
}

async function connectLegacy(target: ServerTarget): Promise<Peer> {
  const client = new LegacyClient({ name: "witness", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async () => elicited);
  client.setRequestHandler(ListRootsRequestSchema, async () => rooted);
  client.setRequestHandler(CreateMessageRequestSchema, async () => sampled);
  const transport =
    "url" in target
      ? new LegacyHttpTransport(new URL(target.url))
      : new LegacyStdioTransport(launch(target.command));
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await client.connect(transport as Transport);
  cleanups.push(() => client.close());
  return client;
}

async function connectModern(target: ServerTarget): Promise<Peer> {
  const client = new ModernClient(
    { name: "witness", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async () => elicited);
  client.setRequestHandler("roots/list", async () => rooted);
  client.setRequestHandler("sampling/createMessage", async () => sampled);
  await client.connect(
    "url" in target
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport(launch(target.command)),
  );
  cleanups.push(() => client.close());
  return client;
}

async function connect(spec: ServerSpec): Promise<Peer> {
  const server = await startServer(spec);
  cleanups.push(() => server.stop());
  return spec.era === "legacy" ? await connectLegacy(server) : await connectModern(server);
}

function text(value: string) {
  return { content: [{ type: "text", text: value }] };
}

const servers: readonly (readonly [string, ServerSpec])[] = [
  ["legacy server over HTTP", { era: "legacy", transport: "http" }],
  [
    "legacy server that asks on the GET stream",
    { era: "legacy", transport: "http", reverseOn: "get" },
  ],
  ["legacy server over stdio", { era: "legacy", transport: "stdio" }],
  ["modern server over HTTP", { era: "modern", transport: "http" }],
  ["modern server over stdio", { era: "modern", transport: "stdio" }],
];

describe("the everything servers", () => {
  it.each(servers)("end every dialogue with a text that shows all answers: %s", async (_, spec) => {
    const peer = await connect(spec);
    const call = (name: string) =>
      peer.callTool({ name: `test_input_required_result_${name}`, arguments: {} });

    expect(await call("elicitation")).toMatchObject(text("Hello, Alice!"));
    expect(await call("sampling")).toMatchObject(text("Sampling response: Hello there!"));
    expect(await call("list_roots")).toMatchObject(
      text("Client exposed 1 root(s): file:///project"),
    );
    expect(await call("request_state")).toMatchObject(text("state-ok: true"));
    expect(await call("tampered_state")).toMatchObject(text("integrity-ok: true"));
    expect(await call("multiple_inputs")).toMatchObject(text("Hello there! Alice - 1 root(s)"));
    expect(await call("multi_round")).toMatchObject(text("Alice likes blue"));
    expect(await call("capabilities")).toMatchObject(text("capabilities-ok"));
    expect(await peer.getPrompt({ name: "test_input_required_result_prompt" })).toMatchObject({
      messages: [{ role: "user", content: { text: "Use the following context: testing" } }],
    });
    expect(
      await peer.callTool({ name: "test_x_mcp_header", arguments: { region: "us-west1" } }),
    ).toMatchObject(text("region=us-west1"));
  });

  it("name the key of every legacy reverse request", async () => {
    const keys: unknown[] = [];
    const server = await startServer({ era: "legacy", transport: "http" });
    cleanups.push(() => server.stop());
    const client = new LegacyClient({ name: "witness", version: "1.0.0" }, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      keys.push(request.params._meta?.["io.erabridge/input-key"]);
      return elicited;
    });
    await client.connect(new LegacyHttpTransport(new URL(server.url)) as Transport);
    cleanups.push(() => client.close());
    await client.callTool({ name: "test_input_required_result_multi_round", arguments: {} });
    expect(keys).toEqual(["step1", "step2"]);
  });
});
