import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import {
  BridgeError,
  type Channel,
  type ChannelTarget,
  DEFAULT_LIMITS,
  type HttpHeaders,
} from "../../src/index.js";
import { createSocketChannel, type SocketLimits, toSocketOptions } from "./socket-channel.js";

export interface WebSocketTargetOptions {
  /** `ws:` or `wss:`. */
  readonly url: string;
  /** Credentials, for instance. */
  readonly headers?: HttpHeaders | undefined;
  /** For logs and identities; the URL's host when absent. */
  readonly name?: string | undefined;
  readonly limits?: Partial<SocketLimits> | undefined;
}

/** A server that does not finish a handshake in this time is not there. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * A server behind a WebSocket that speaks the subprotocol `mcp`. `open` rejects with
 * `upstream-unauthorized` when the server wants other credentials, else with `upstream-unavailable`.
 */
export function createWebSocketTarget(options: WebSocketTargetOptions): ChannelTarget {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { host } = new URL(options.url);
  return {
    type: "channel",
    name: options.name ?? host,
    spawns: false,
    open: () =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(options.url, ["mcp"], {
          ...toSocketOptions(limits),
          headers: options.headers ?? {},
          handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        });
        let channel: Channel | undefined;
        socket.once("upgrade", ({ socket: stream }) => {
          socket.once("open", () => {
            channel = createSocketChannel(socket, stream, limits);
            resolve(channel);
          });
        });
        socket.once("unexpected-response", (_request, response: IncomingMessage) => {
          reject(toRefusal(host, response.statusCode ?? 0));
          socket.terminate();
        });
        socket.on("error", (error: NodeJS.ErrnoException) => {
          const message = `cannot connect to ${host}: ${error.code ?? error.message}`;
          reject(new BridgeError("upstream-unavailable", message, { cause: error }));
        });
      }),
  };
}

function toRefusal(host: string, status: number): BridgeError {
  const code = status === 401 || status === 403 ? "upstream-unauthorized" : "upstream-unavailable";
  return new BridgeError(code, `${host} refused the WebSocket with status ${status}`, {
    data: { status },
  });
}
