import { type WebSocket, WebSocketServer } from "ws";
import type { JsonObject, OlderRevision } from "./content.js";
import type { OldSdk, OldTransport } from "./sdk.js";
import { createOlderServer } from "./server.js";

interface MessageTransport extends OldTransport {
  onmessage?: ((message: JsonObject) => void) | undefined;
  start(): Promise<void>;
  send(message: JsonObject): Promise<void>;
}

/** The messages of one socket, one a frame, as the SDK's own WebSocket client has them. */
function socketTransport(socket: WebSocket): MessageTransport {
  const transport: MessageTransport = {
    start: async () => {
      socket.on("message", (data) => transport.onmessage?.(JSON.parse(data.toString())));
      socket.on("close", () => transport.onclose?.());
    },
    send: async (message) => socket.send(JSON.stringify(message)),
    close: async () => socket.close(),
  };
  return transport;
}

/** Serves each socket that offers the subprotocol `mcp` a session, and prints the ws URL. */
export function listenForSockets(sdk: OldSdk, revision: OlderRevision): void {
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    handleProtocols: (offered) => (offered.has("mcp") ? "mcp" : false),
  });
  server.on("connection", (socket) => {
    if (socket.protocol !== "mcp") socket.close(1002, "subprotocol mcp is required");
    else void createOlderServer(sdk, revision).connect(socketTransport(socket));
  });
  server.on("listening", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port to listen on");
    process.stdout.write(`ws://127.0.0.1:${address.port}/\n`);
  });
}
