import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { createWebSocketTarget } from "../../../adapters/websocket/connect.js";

async function answering(status: number): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  [401, "upstream-unauthorized"],
  [403, "upstream-unauthorized"],
  [404, "upstream-unavailable"],
  [200, "upstream-unavailable"],
  [503, "upstream-unavailable"],
])("a server that answers %i is an error with the status", async (status, code) => {
  const host = await answering(status);
  await expect(createWebSocketTarget({ url: `ws://${host}/mcp` }).open()).rejects.toMatchObject({
    code,
    message: `${host} refused the WebSocket with status ${status}`,
    data: { status },
  });
});

test("a server that is not there is an error with the host and the system's code", async () => {
  const target = createWebSocketTarget({ url: "ws://127.0.0.1:9/mcp" });
  await expect(target.open()).rejects.toMatchObject({
    code: "upstream-unavailable",
    message: "cannot connect to 127.0.0.1:9: ECONNREFUSED",
  });
});

test("a server without the subprotocol is an error", async () => {
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    handleProtocols: () => false,
  });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => server.close());
  const { port } = server.address() as AddressInfo;
  await expect(
    createWebSocketTarget({ url: `ws://127.0.0.1:${port}` }).open(),
  ).rejects.toMatchObject({ code: "upstream-unavailable" });
});

test("headers go with the handshake, and each opening is a connection of its own", async () => {
  const seen: unknown[] = [];
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => server.close());
  server.on("connection", (_socket, request) => seen.push(request.headers.authorization));
  const { port } = server.address() as AddressInfo;
  const target = createWebSocketTarget({
    url: `ws://127.0.0.1:${port}`,
    headers: { authorization: "Bearer t" },
  });
  const channels = await Promise.all([target.open(), target.open()]);
  await Promise.all(channels.map((channel) => channel.close()));
  expect(seen).toEqual(["Bearer t", "Bearer t"]);
  expect(target).toMatchObject({ type: "channel", name: `127.0.0.1:${port}`, spawns: false });
});
