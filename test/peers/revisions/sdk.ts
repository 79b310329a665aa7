import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject, OlderRevision } from "./content.js";

/** What the servers and clients here need of a transport, in any release of the SDK. */
export interface OldTransport {
  sessionId?: string | undefined;
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

export interface OldSseTransport extends OldTransport {
  handlePostMessage(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface OldHttpTransport extends OldTransport {
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface OldExtra {
  readonly signal: AbortSignal;
  /** Absent in the first releases. */
  readonly sendNotification?: (notification: JsonObject) => Promise<void>;
  readonly sendRequest?: (request: JsonObject, schema: unknown) => Promise<JsonObject>;
}

interface OldProtocol {
  setRequestHandler(
    schema: unknown,
    handler: (request: { params?: JsonObject }, extra: OldExtra) => Promise<JsonObject>,
  ): void;
  request(request: JsonObject, schema: unknown, options?: JsonObject): Promise<JsonObject>;
  notification(notification: JsonObject): Promise<void>;
  connect(transport: OldTransport): Promise<void>;
  close(): Promise<void>;
}

export interface OldServer extends OldProtocol {
  getClientCapabilities(): JsonObject | undefined;
}

export interface OldClient extends OldProtocol {
  getServerCapabilities(): JsonObject | undefined;
  getServerVersion(): JsonObject | undefined;
}

/** An official SDK of its time, seen through the few parts that all releases share. */
export interface OldSdk {
  readonly Server: new (info: JsonObject, options: JsonObject) => OldServer;
  readonly Client: new (info: JsonObject, options: JsonObject) => OldClient;
  readonly StdioServerTransport: new () => OldTransport;
  readonly StdioClientTransport: new (options: JsonObject) => OldTransport;
  readonly SSEServerTransport: new (endpoint: string, response: ServerResponse) => OldSseTransport;
  /** Needs a global EventSource in the first releases. */
  readonly SSEClientTransport: new (
    url: URL,
  ) => OldTransport;
  /** Since 2025-03-26. */
  readonly StreamableHTTPServerTransport?: new (
    options: JsonObject,
  ) => OldHttpTransport;
  readonly StreamableHTTPClientTransport?: new (url: URL) => OldTransport;
  /** The exports of its module of types: the schemas and LATEST_PROTOCOL_VERSION. */
  readonly types: Readonly<Record<string, unknown>>;
}

const LOADERS: Readonly<Record<OlderRevision, () => Promise<unknown>>> = {
  "2024-11-05": async () => ({
    ...(await import("mcp-sdk-2024-11-05/server/index.js")),
    ...(await import("mcp-sdk-2024-11-05/server/stdio.js")),
    ...(await import("mcp-sdk-2024-11-05/server/sse.js")),
    ...(await import("mcp-sdk-2024-11-05/client/index.js")),
    ...(await import("mcp-sdk-2024-11-05/client/stdio.js")),
    ...(await import("mcp-sdk-2024-11-05/client/sse.js")),
    types: await import("mcp-sdk-2024-11-05/types.js"),
  }),
  "2025-03-26": async () => ({
    ...(await import("mcp-sdk-2025-03-26/server/index.js")),
    ...(await import("mcp-sdk-2025-03-26/server/stdio.js")),
    ...(await import("mcp-sdk-2025-03-26/server/sse.js")),
    ...(await import("mcp-sdk-2025-03-26/server/streamableHttp.js")),
    ...(await import("mcp-sdk-2025-03-26/client/index.js")),
    ...(await import("mcp-sdk-2025-03-26/client/stdio.js")),
    ...(await import("mcp-sdk-2025-03-26/client/sse.js")),
    ...(await import("mcp-sdk-2025-03-26/client/streamableHttp.js")),
    types: await import("mcp-sdk-2025-03-26/types.js"),
  }),
  "2025-06-18": async () => ({
    ...(await import("mcp-sdk-2025-06-18/server/index.js")),
    ...(await import("mcp-sdk-2025-06-18/server/stdio.js")),
    ...(await import("mcp-sdk-2025-06-18/server/sse.js")),
    ...(await import("mcp-sdk-2025-06-18/server/streamableHttp.js")),
    ...(await import("mcp-sdk-2025-06-18/client/index.js")),
    ...(await import("mcp-sdk-2025-06-18/client/stdio.js")),
    ...(await import("mcp-sdk-2025-06-18/client/sse.js")),
    ...(await import("mcp-sdk-2025-06-18/client/streamableHttp.js")),
    types: await import("mcp-sdk-2025-06-18/types.js"),
  }),
};

export async function loadSdk(revision: OlderRevision): Promise<OldSdk> {
  return (await LOADERS[revision]()) as OldSdk;
}
