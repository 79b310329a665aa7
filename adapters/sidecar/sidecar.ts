import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import type { SystemPorts } from "../system/ports.js";
import type { WebSocketFront } from "../websocket/front.js";
import { mountHealth } from "./health.js";
import { allowedHostsOf, authenticatorOf, checkListener } from "./listener.js";
import { createMounts, decodePath } from "./mounts.js";
import { openBridge } from "./open-bridge.js";
import { mountResourceMetadata } from "./resource-metadata.js";
import type { Mount, SidecarSettings } from "./settings.js";
import { attachSockets } from "./sockets.js";

/** Longer than the idle time of common clients and proxies, so that it is they who close. */
const KEEP_ALIVE_MS = 75_000;

/** Bridges behind one HTTP listener, with health and metrics beside them. */
export interface Sidecar {
  /** The application, for whoever wants to listen by himself. */
  readonly app: Express;
  /** Binds and resolves with the origin, `http://127.0.0.1:8080`; rejects with the system's error. */
  listen(): Promise<string>;
  /** Adds and removes upstreams; the others do not notice. */
  update(mounts: readonly Mount[]): void;
  /** Finishes what is in flight within `drainMs`, then ends every bridge and the listener. */
  stop(): Promise<void>;
}

/** Throws BindRefused when the listener would be open to strangers. */
export function createSidecar(settings: SidecarSettings, deps: SystemPorts): Sidecar {
  const { listen } = settings;
  checkListener(listen);
  const authenticator = authenticatorOf(listen);
  const mounts = createMounts({
    clock: deps.clock,
    journal: deps.journal,
    open: (upstream) =>
      openBridge(upstream, {
        ...deps,
        ...(authenticator === undefined ? {} : { authenticator }),
        allowedHosts: allowedHostsOf(listen),
        allowedOrigins: listen.allowedOrigins,
      }),
  });
  mounts.update(settings.mounts);
  let draining = false;
  let server: Server | undefined;
  let sockets: WebSocketFront | undefined;

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use((request, response, next) => {
    const { path } = request;
    const served = mounts.at(path) ?? mounts.at(decodePath(path));
    if (served === undefined) next();
    else served.handler(request, response);
  });
  const resourceMetadata = mountResourceMetadata(app, { mounts, listen });
  mountHealth(app, { mounts, journal: deps.journal, authenticator, draining: () => draining });
  app.use((_request, response) => {
    const paths = mounts.list().map(({ path }) => path);
    const hint = authenticator === undefined ? `; MCP is at ${paths.join(", ")}` : "";
    response.status(404).type("text").send(`nothing here${hint}\n`);
  });

  // Express gives each request and response another prototype, after which Node's own code for them is
  // slow: a small call would take twice as long. So calls are met before it, and it serves the rest.
  const serve: RequestListener = (request, response) => {
    const served = mounts.at(withoutQuery(request.url ?? ""));
    if (served === undefined) app(request, response);
    else served.handler(request, response);
  };

  return {
    app,
    listen() {
      return new Promise((resolve, reject) => {
        const listener = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, serve);
        server = listener;
        sockets = attachSockets(listener, { listen, mounts });
        listener.once("error", reject);
        listener.listen(listen.port, listen.host, () => {
          listener.off("error", reject);
          resolve(originOf(listener.address() as AddressInfo));
        });
      });
    },
    update: mounts.update,
    async stop() {
      // The listener stays until the end, so that whoever asks is told that this one is going.
      draining = true;
      await mounts.drain();
      await sockets?.close();
      await mounts.close();
      await resourceMetadata.close();
      const listener = server;
      if (listener === undefined) return;
      await new Promise<void>((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      });
    },
  };
}

function withoutQuery(url: string): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

function originOf({ address, family, port }: AddressInfo): string {
  if (address === "0.0.0.0" || address === "::") return `http://127.0.0.1:${port}`;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
