import { WebSocket } from "ws";
import type { Answers } from "../../support/sdk-peers.js";
import type { Peer } from "../peer.js";
import type { JsonObject, OlderRevision } from "./content.js";
import { loadSdk, type OldSdk, type OldTransport } from "./sdk.js";

/** How the client reaches its server. */
export type OldPlace =
  | { readonly transport: "stdio"; readonly command: readonly string[] }
  | { readonly transport: "http" | "sse" | "ws"; readonly url: string };

async function transportTo(place: OldPlace, sdk: OldSdk): Promise<OldTransport> {
  if (place.transport === "stdio") {
    const [command = "", ...args] = place.command;
    return new sdk.StdioClientTransport({ command, args, stderr: "ignore" });
  }
  const url = new URL(place.url);
  if (place.transport === "http") {
    if (sdk.StreamableHTTPClientTransport === undefined) throw new Error("no Streamable HTTP");
    return new sdk.StreamableHTTPClientTransport(url);
  }
  if (place.transport === "sse") return new sdk.SSEClientTransport(url);
  // The transport of the SDK uses the global of browsers.
  Object.assign(globalThis, { WebSocket });
  const module = await import("mcp-sdk-2025-06-18/client/websocket.js");
  return new module.WebSocketClientTransport(url) as unknown as OldTransport;
}

function capabilitiesOf(answers: Answers): JsonObject {
  return {
    ...(answers.elicit ? { elicitation: {} } : {}),
    ...(answers.sample ? { sampling: {} } : {}),
    ...(answers.roots ? { roots: {} } : {}),
  };
}

/** The official client of the revision, connected to a server without a bridge between. */
export async function olderPeer(
  revision: OlderRevision,
  place: OldPlace,
  answers: Answers = {},
): Promise<Peer> {
  // The first SDK's HTTP+SSE client needs a browser; the next one's still speaks its revision.
  const lacksClient = revision === "2024-11-05" && place.transport === "sse";
  const sdk = await loadSdk(lacksClient ? "2025-03-26" : revision);
  const client = new sdk.Client(
    { name: "older-client", version: "1.0.0" },
    { capabilities: capabilitiesOf(answers) },
  );
  const { elicit, sample, roots } = answers;
  const answer = (schema: string, handler: (params: JsonObject) => JsonObject): void =>
    client.setRequestHandler(sdk.types[schema], async ({ params = {} }) => handler(params));
  if (elicit && "ElicitRequestSchema" in sdk.types) answer("ElicitRequestSchema", elicit);
  if (sample) answer("CreateMessageRequestSchema", sample);
  if (roots) answer("ListRootsRequestSchema", () => ({ roots: [...roots] }));
  await client.connect(await transportTo(place, sdk));
  return {
    request: (method, params = {}, options = {}) =>
      client.request({ method, params }, sdk.types["ResultSchema"], { ...options }),
    close: () => client.close(),
  };
}
