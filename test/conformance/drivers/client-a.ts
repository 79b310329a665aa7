/** Drives the bridge as a legacy client: a modern client (official SDK v2) on its other side. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { withBridge } from "./drive.js";
import { playScenario } from "./scenarios.js";

await withBridge(async (url) => {
  const client = new Client(
    { name: "conformance-driver-a", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: {} }));
  client.setRequestHandler("roots/list", async () => ({ roots: [] }));
  client.setRequestHandler("sampling/createMessage", async () => ({
    model: "none",
    role: "assistant",
    content: { type: "text", text: "Hello" },
  }));
  await client.connect(new StreamableHTTPClientTransport(url));
  await playScenario(client);
  await client.close();
});
