import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createWebSocketTarget } from "../../../adapters/websocket/connect.js";
import {
  attachWebSocketFront,
  type SocketOpening,
  type WebSocketFrontOptions,
} from "../../../adapters/websocket/front.js";
import { type Channel, toPrincipal } from "../../../src/index.js";
import { channelContract, record } from "../../contracts/channel-contract.js";

async function front(options: Partial<WebSocketFrontOptions> = {}) {
  const server = createServer((_request, response) => response.writeHead(404).end());
  const openings: SocketOpening[] = [];
  let take: (channel: Channel) => void = () => undefined;
  const accepted = new Promise<Channel>((resolve) => {
    take = resolve;
  });
  const attached = attachWebSocketFront(server, {
    route: (path) =>
      path === "/mcp"
        ? (channel, opening) => {
            openings.push(opening);
            take(channel);
          }
        : undefined,
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await attached.close();
    server.closeAllConnections();
    server.close();
  });
  const origin = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, accepted, openings, attached };
}

/** The status a handshake is refused with, or 101. */
function handshake(url: string, headers: Record<string, string> = {}, protocols = ["mcp"]) {
  const socket = new WebSocket(url, protocols, { headers });
  onTestFinished(() => socket.terminate());
  return new Promise<{ status: number; challenge: unknown; protocol: string }>((resolve) => {
    socket.on("error", () => undefined);
    socket.on("unexpected-response", (_request, response) =>
      resolve({
        status: response.statusCode ?? 0,
        challenge: response.headers["www-authenticate"],
        protocol: "",
      }),
    );
    socket.on("open", () =>
      resolve({ status: 101, challenge: undefined, protocol: socket.protocol }),
    );
  });
}

channelContract("accepted WebSocket", async (limits) => {
  const { origin, accepted } = await front({ limits: () => ({ ...limits, stopGraceMs: 200 }) });
  const peer = new WebSocket(`${origin}/mcp`, ["mcp"]);
  peer.on("error", () => undefined);
  peer.on("message", (data) => peer.send(data.toString()));
  await new Promise((resolve) => peer.once("open", resolve));
  return {
    channel: await accepted,
    say: (text) => peer.send(text),
    leave: () => peer.terminate(),
    stall: () => peer.pause(),
  };
});

test("the subprotocol is echoed where it is offered, and only mcp is", async () => {
  const { origin } = await front();
  expect(await handshake(`${origin}/mcp`)).toMatchObject({ status: 101, protocol: "mcp" });
  expect(await handshake(`${origin}/mcp/`, {}, ["x", "mcp"])).toMatchObject({ protocol: "mcp" });
  expect(await handshake(`${origin}/mcp?a=1`, {}, [])).toMatchObject({ status: 101, protocol: "" });
});

test("another path is not found", async () => {
  const { origin } = await front();
  expect(await handshake(`${origin}/other`)).toMatchObject({ status: 404 });
  expect(await handshake(`${origin}/mcp/other`)).toMatchObject({ status: 404 });
});

test("a page of another origin is refused before anyone is authenticated", async () => {
  let asked = 0;
  const { origin } = await front({
    guard: (headers) => (headers["origin"] === "https://evil.example" ? "Origin" : undefined),
    authenticate: () => {
      asked += 1;
      return { type: "accepted", principal: toPrincipal("alice"), anonymous: false };
    },
  });
  const refused = await handshake(`${origin}/mcp`, { origin: "https://evil.example" });
  expect(refused).toMatchObject({ status: 403 });
  expect(asked).toBe(0);
  expect(await handshake(`${origin}/mcp`)).toMatchObject({ status: 101 });
});

test("a client without the right credentials gets the challenge, one with them its principal", async () => {
  const { origin, openings } = await front({
    authenticate: async ({ authorization }) =>
      authorization === "Bearer a"
        ? { type: "accepted", principal: toPrincipal("alice"), anonymous: false }
        : {
            type: "refused",
            status: 401,
            headers: { "www-authenticate": "Bearer" },
            reason: "who are you",
          },
  });
  expect(await handshake(`${origin}/mcp`)).toMatchObject({ status: 401, challenge: "Bearer" });
  expect(await handshake(`${origin}/mcp`, { authorization: "Bearer a" })).toMatchObject({
    status: 101,
  });
  expect(openings).toMatchObject([
    { principal: "alice", anonymous: false, headers: { authorization: "Bearer a" } },
  ]);
});

test("without an authenticator everyone is the local user", async () => {
  const { origin, openings } = await front();
  await handshake(`${origin}/mcp`);
  expect(openings).toMatchObject([{ principal: "local", anonymous: false }]);
});

test("an authenticator that fails refuses the one connection and harms nothing", async () => {
  let calls = 0;
  const { origin } = await front({
    authenticate: () => {
      calls += 1;
      if (calls === 1) throw new Error("bug");
      return { type: "accepted", principal: toPrincipal("alice"), anonymous: false };
    },
  });
  expect(await handshake(`${origin}/mcp`)).toMatchObject({ status: 500 });
  expect(await handshake(`${origin}/mcp`)).toMatchObject({ status: 101 });
});

test("closing the front closes what is open and accepts no more", async () => {
  const { origin, accepted, attached } = await front();
  const target = createWebSocketTarget({ url: `${origin}/mcp` });
  const channel = await target.open();
  const seen = record(channel);
  record(await accepted);
  await attached.close();
  await seen.until(() => seen.ends.length === 1);
  expect(seen.ends).toEqual([{ expected: false, detail: "close code 1000" }]);
  await expect(target.open()).rejects.toMatchObject({ code: "upstream-unavailable" });
});

test("each path has its own limits", async () => {
  const { origin } = await front({
    route: () => (channel) => void record(channel),
    limits: (path) => (path === "/small" ? { maxMessageBytes: 10 } : {}),
  });
  const closeCode = (path: string) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(origin + path, ["mcp"]);
      socket.on("open", () => {
        socket.send("x".repeat(11));
        setTimeout(() => socket.close(4_000), 200);
      });
      socket.on("close", resolve);
    });
  expect([await closeCode("/small"), await closeCode("/large")]).toEqual([1_009, 4_000]);
});
