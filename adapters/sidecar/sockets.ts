import type { Server } from "node:http";
import { createOriginGuard } from "../../src/index.js";
import { attachWebSocketFront, type WebSocketFront } from "../websocket/front.js";
import { allowedHostsOf, authenticatorOf } from "./listener.js";
import { decodePath, type Mounts } from "./mounts.js";
import type { ListenSettings } from "./settings.js";

export interface SocketsDeps {
  readonly listen: ListenSettings;
  readonly mounts: Pick<Mounts, "at">;
}

/** Serves clients that come by WebSocket at the very paths of the HTTP endpoints. */
export function attachSockets(server: Server, deps: SocketsDeps): WebSocketFront {
  const { listen, mounts } = deps;
  const { allowedOrigins } = listen;
  return attachWebSocketFront(server, {
    guard: createOriginGuard({ allowedHosts: allowedHostsOf(listen), allowedOrigins }),
    authenticate: authenticatorOf(listen),
    limits: (path) => mounts.at(decodePath(path))?.settings.limits ?? {},
    route(path) {
      const served = mounts.at(decodePath(path));
      if (served === undefined) return undefined;
      return (channel, { headers: { authorization }, principal, anonymous }) => {
        void served.bridge.accept(channel, { principal, anonymous, authorization });
      };
    },
  });
}
