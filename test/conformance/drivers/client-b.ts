/** Drives the bridge as a modern client: a legacy client (official SDK v1) on its other side. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { withBridge } from "./drive.js";
import { playScenario } from "./scenarios.js";

await withBridge(async (url) => {
  const client = new Client(
    { name: "conformance-driver-b", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } },
  );
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: "accept",
    content: { confirmed: true },
  }));
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    model: "none",
    role: "assistant",
    content: { type: "text", text: "Hello" },
  }));
  const transport = new StreamableHTTPClientTransport(url);
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await client.connect(transport as Transport);
  await playScenario(client);
  await transport.terminateSession();
  await client.close();
});
