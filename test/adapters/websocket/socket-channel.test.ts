import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createWebSocketTarget } from "../../../adapters/websocket/connect.js";
import type { SocketLimits } from "../../../adapters/websocket/socket-channel.js";
import { channelContract, record } from "../../contracts/channel-contract.js";

interface Listening {
  readonly url: string;
  /** The next connection. */
  readonly accepted: Promise<[WebSocket, IncomingMessage]>;
}

async function listen(options: { readonly maxPayload?: number } = {}): Promise<Listening> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, ...options });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const accepted = new Promise<[WebSocket, IncomingMessage]>((resolve) => {
    server.once("connection", (socket, request) => {
      socket.on("error", () => undefined);
      resolve([socket, request]);
    });
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, accepted };
}

async function connected(limits: Partial<SocketLimits> = {}) {
  const { url, accepted } = await listen();
  const channel = await createWebSocketTarget({
    url,
    limits: { stopGraceMs: 200, ...limits },
  }).open();
  const [peer, request] = await accepted;
  onTestFinished(() => channel.close());
  return { channel, peer, request };
}

channelContract("WebSocket", async (limits) => {
  const { channel, peer } = await connected(limits);
  peer.on("message", (data) => peer.send(data.toString()));
  return {
    channel,
    say: (text) => peer.send(text),
    leave: () => peer.terminate(),
    stall: () => peer.pause(),
  };
});

/** How the peer sees the end. */
function closeOf(peer: WebSocket): Promise<number> {
  return new Promise((resolve) => peer.once("close", resolve));
}

test("the subprotocol mcp is asked for", async () => {
  const { peer, request } = await connected();
  expect(request.headers["sec-websocket-protocol"]).toBe("mcp");
  expect(peer.protocol).toBe("mcp");
});

test("a binary frame closes with 1003", async () => {
  const { channel, peer } = await connected();
  const seen = record(channel);
  peer.send(Buffer.from("{}"));
  expect(await closeOf(peer)).toBe(1003);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.messages).toEqual([]);
  expect(seen.dropped).toEqual([{ reason: "binary", head: "" }]);
  expect(seen.ends).toEqual([{ expected: false, detail: "the peer sent a binary frame" }]);
});

test("20 MB pass where the limit allows", async () => {
  const { channel, peer } = await connected();
  const seen = record(channel);
  const text = `"${"x".repeat(20 * 1024 * 1024)}"`;
  peer.send(text);
  await seen.until(() => seen.messages.length === 1);
  expect(seen.messages[0] === text).toBe(true);
});

test("a message over the limit closes with 1009 and ends the channel", async () => {
  const { channel, peer } = await connected({ maxMessageBytes: 1_000 });
  const seen = record(channel);
  peer.send("x".repeat(1_000));
  await seen.until(() => seen.messages.length === 1);
  peer.send("x".repeat(1_001));
  expect(await closeOf(peer)).toBe(1009);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([
    { expected: false, detail: "the peer sent a message of more than 1000 bytes" },
  ]);
});

test("the peer's close code and reason are the detail", async () => {
  const { channel, peer } = await connected();
  const seen = record(channel);
  peer.close(1001, "restarting");
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([{ expected: false, detail: 'close code 1001 "restarting"' }]);
});

test("closing says 1000, and does not wait for ever for a peer that does not read", async () => {
  const polite = await connected();
  record(polite.channel);
  const code = closeOf(polite.peer);
  await polite.channel.close();
  expect(await code).toBe(1000);

  const deaf = await connected();
  const seen = record(deaf.channel);
  deaf.peer.pause();
  await deaf.channel.close();
  expect(seen.ends).toEqual([{ expected: true, detail: "closed by this side" }]);
});

test("a silent peer that answers pings stays", async () => {
  const { channel, peer } = await connected({ heartbeatMs: 20 });
  const seen = record(channel);
  let pings = 0;
  await new Promise<void>((resolve) => {
    peer.on("ping", () => {
      pings += 1;
      if (pings === 5) resolve();
    });
  });
  expect(seen.ends).toEqual([]);
  channel.send('"still here"');
  await new Promise((resolve) => peer.once("message", resolve));
});

test("a peer that does not answer pings is cut: the connection is half open", async () => {
  const server = createServer();
  server.on("upgrade", (request, socket) => {
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    socket.on("error", () => undefined);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: mcp\r\n\r\n`,
    );
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const channel = await createWebSocketTarget({
    url: `ws://127.0.0.1:${port}`,
    limits: { heartbeatMs: 20 },
  }).open();
  const seen = record(channel);
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([{ expected: false, detail: "no sign of life" }]);
});
