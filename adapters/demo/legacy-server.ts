import { setTimeout as sleep } from "node:timers/promises";
import type { Channel } from "../../src/index.js";
import { createPeer, type Json, NoSuchMethod, type Peer } from "./peer.js";

const TOOLS = [
  { name: "brew_tea", description: "Reports progress while it works" },
  { name: "book_table", description: "Asks the user how many guests come" },
  {
    name: "plan_trip",
    description: "Asks for roots and the model at once, then for a confirmation",
  },
].map((tool) => ({ ...tool, inputSchema: { type: "object" } }));

const text = (value: string): Json => ({ content: [{ type: "text", text: value }] });

async function brewTea(peer: Peer, progressToken: unknown): Promise<Json> {
  for (const [step, message] of ["water boils", "leaves steep"].entries()) {
    await sleep(100);
    if (progressToken !== undefined) {
      peer.notify("notifications/progress", {
        progressToken,
        progress: step + 1,
        total: 2,
        message,
      });
    }
  }
  return text("Tea is ready.");
}

async function bookTable(peer: Peer, place: unknown): Promise<Json> {
  const answer = await peer.request("elicitation/create", {
    message: "How many guests?",
    requestedSchema: {
      type: "object",
      properties: { guests: { type: "integer" } },
      required: ["guests"],
    },
  });
  const { guests } = (answer["content"] ?? {}) as { guests?: number };
  return text(guests === undefined ? "No table booked." : `Table for ${guests} at ${place}.`);
}

async function planTrip(peer: Peer): Promise<Json> {
  const question = { type: "text", text: "Name one sight in Lisbon." };
  const [roots, sight] = await Promise.all([
    peer.request("roots/list"),
    peer.request("sampling/createMessage", {
      messages: [{ role: "user", content: question }],
      maxTokens: 50,
    }),
  ]);
  const [root] = roots["roots"] as readonly { uri: string }[];
  const { text: idea } = sight["content"] as { text: string };
  const answer = await peer.request("elicitation/create", {
    message: `Save "${idea}" in ${root?.uri}?`,
    requestedSchema: { type: "object", properties: { save: { type: "boolean" } } },
  });
  return text(answer["action"] === "accept" ? `Saved: ${idea}.` : `Not saved: ${idea}.`);
}

/**
 * An MCP server of revision 2025-11-25 at the other end of a channel. It knows nothing of the
 * bridge: it wants `initialize` first and asks its client in the middle of a call.
 */
export function createLegacyServer(channel: Channel): void {
  const peer = createPeer(channel, (method, params) => {
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "demo-server", version: "1.0.0" },
        };
      case "ping":
      case "notifications/initialized":
        return {};
      case "tools/list":
        return { tools: TOOLS };
      case "tools/call":
        return call(params);
      default:
        throw new NoSuchMethod("Method not found");
    }
  });

  const call = (params: Json): Promise<Json> => {
    const given = params as { arguments?: Json; _meta?: Json };
    switch (params["name"]) {
      case "brew_tea":
        return brewTea(peer, given._meta?.["progressToken"]);
      case "book_table":
        return bookTable(peer, given.arguments?.["place"]);
      case "plan_trip":
        return planTrip(peer);
      default:
        throw new Error("no such tool");
    }
  };
}
