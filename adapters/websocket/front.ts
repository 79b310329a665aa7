import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import {
  type Authentication,
  type Authenticator,
  type Channel,
  DEFAULT_LIMITS,
  type HttpHeaders,
  LOCAL_PRINCIPAL,
  type Principal,
} from "../../src/index.js";
import { createSocketChannel, type SocketLimits, toSocketOptions } from "./socket-channel.js";

/** What is known of a client when its WebSocket opens; it holds for the whole connection. */
export interface SocketOpening {
  readonly headers: HttpHeaders;
  readonly principal: Principal;
  readonly anonymous: boolean;
}

export type AcceptSocket = (channel: Channel, opening: SocketOpening) => void;

export interface WebSocketFrontOptions {
  /** Who takes connections at a path, given without a slash at its end; undefined is a 404. */
  route(path: string): AcceptSocket | undefined;
  /** Judges `Host` and `Origin`; a text is the reason for a 403. Browsers let any page open sockets. */
  readonly guard?: ((headers: HttpHeaders) => string | undefined) | undefined;
  /** Everyone is the local user when absent. */
  readonly authenticate?: Authenticator | undefined;
  /** The limits of the connections at a path; the bridge's where absent. */
  readonly limits?: ((path: string) => Partial<SocketLimits>) | undefined;
}

export interface WebSocketFront {
  /** Takes no more connections and closes those that are open. */
  close(): Promise<void>;
}

const LOCAL: Authentication = { type: "accepted", principal: LOCAL_PRINCIPAL, anonymous: false };

/** Accepts WebSockets on a server, with the subprotocol `mcp` where the client offers it. */
export function attachWebSocketFront(
  server: Server,
  options: WebSocketFrontOptions,
): WebSocketFront {
  const channels = new Set<Channel>();
  const acceptors = new Map<number, WebSocketServer>();

  /** `ws` takes its limit of a message from the acceptor. */
  const acceptorFor = (limits: SocketLimits): WebSocketServer => {
    const known = acceptors.get(limits.maxMessageBytes);
    if (known !== undefined) return known;
    const acceptor = new WebSocketServer({
      ...toSocketOptions(limits),
      noServer: true,
      clientTracking: false,
      handleProtocols: (offered) => (offered.has("mcp") ? "mcp" : false),
    });
    acceptors.set(limits.maxMessageBytes, acceptor);
    return acceptor;
  };

  const upgrade = async (request: IncomingMessage, stream: Socket, head: Buffer) => {
    const headers = request.headers as HttpHeaders;
    const path = (request.url ?? "/").split("?")[0]?.replace(/(?<=.)\/$/, "") ?? "/";
    const accept = options.route(path);
    if (accept === undefined) return refuse(stream, 404, {}, "nothing here");
    const problem = options.guard?.(headers);
    if (problem !== undefined) return refuse(stream, 403, {}, problem);
    const judged = (await options.authenticate?.(headers)) ?? LOCAL;
    if (judged.type === "refused") {
      return refuse(stream, judged.status, judged.headers, judged.reason);
    }
    const { principal, anonymous } = judged;
    const limits = { ...DEFAULT_LIMITS, ...options.limits?.(path) };
    acceptorFor(limits).handleUpgrade(request, stream, head, (socket) => {
      const channel = createSocketChannel(socket, stream, limits);
      channels.add(channel);
      socket.once("close", () => channels.delete(channel));
      accept(channel, { headers, principal, anonymous });
    });
  };
  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    // The client may go while it is judged.
    stream.on("error", ignore);
    // Node's HTTP server upgrades nothing but sockets.
    upgrade(request, stream as Socket, head).catch(() => refuse(stream, 500, {}, "internal error"));
  };

  server.on("upgrade", onUpgrade);
  return {
    async close() {
      server.off("upgrade", onUpgrade);
      await Promise.all([...channels].map((channel) => channel.close()));
    },
  };
}

function ignore(): void {
  // The end of the connection is seen as `close`.
}

function refuse(stream: Duplex, status: number, headers: HttpHeaders, reason: string): void {
  const fields = {
    ...headers,
    connection: "close",
    "content-type": "text/plain",
    "content-length": String(Buffer.byteLength(reason)),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  stream.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${reason}`);
}
