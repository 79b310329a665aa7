import {
  type Authenticator,
  type Bridge,
  createBridge,
  type Journal,
  type Target,
} from "../../src/index.js";
import { createUndiciExchange } from "../http/undici-exchange.js";
import { createChildTarget } from "../stdio/child.js";
import { IDENTITY } from "../system/identity.js";
import type { SystemPorts } from "../system/ports.js";
import { createWebSocketTarget } from "../websocket/connect.js";
import type { Connection, UpstreamSettings } from "./settings.js";

export interface OpenBridgeDeps extends Omit<SystemPorts, "journal"> {
  readonly journal: Journal;
  /** What a server writes to its standard error; logged as `server-said` at debug when absent. */
  readonly onStderr?: (line: string) => void;
  readonly authenticator?: Authenticator;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

interface OpenTarget {
  readonly target: Target;
  close(): Promise<void>;
}

function openTarget(
  { name, connection, limits }: UpstreamSettings,
  { journal, onStderr }: OpenBridgeDeps,
): OpenTarget {
  if (connection.type === "command") {
    const { command, args, cwd, env, inheritEnv } = connection;
    const target = createChildTarget({
      command,
      args,
      cwd,
      name,
      limits,
      environment: { inherit: inheritEnv, variables: env },
      onStderr: onStderr ?? ((line) => journal.debug("server-said", { upstream: name, line })),
      onExit(exit) {
        if (exit.expected) return;
        const { pid, status } = exit;
        const said = exit.stderrTail.trim().split("\n").at(-1) || undefined;
        journal.warn("server-exited", { upstream: name, pid, status, said });
      },
    });
    return { target, close: async () => undefined };
  }
  const { url, headers } = connection;
  if (/^wss?:/i.test(url)) {
    const target = createWebSocketTarget({ url, headers, name, limits });
    return { target, close: async () => undefined };
  }
  const { exchange, close } = createUndiciExchange();
  return { target: { type: "http", name, url, exchange, headers: () => headers }, close };
}

/** A bridge in front of one server, and what belongs to it. */
export function openBridge(settings: UpstreamSettings, deps: OpenBridgeDeps): Bridge {
  const { target, close } = openTarget(settings, deps);
  const { upstreamEra, sessionPolicy, probe, frontEra, attribution, forwardUnknown } = settings;
  const bridge = createBridge({
    clock: deps.clock,
    entropy: deps.entropy,
    sealer: deps.sealer,
    journal: deps.journal,
    identity: IDENTITY,
    target,
    probe,
    frontEra,
    attribution,
    forwardUnknown,
    sameResource: settings.sameResource,
    limits: settings.limits,
    ...(upstreamEra === undefined ? {} : { upstreamEra }),
    ...(sessionPolicy === undefined ? {} : { sessionPolicy }),
    ...(deps.authenticator === undefined ? {} : { authenticator: deps.authenticator }),
    ...(deps.allowedHosts === undefined ? {} : { allowedHosts: deps.allowedHosts }),
    ...(deps.allowedOrigins === undefined ? {} : { allowedOrigins: deps.allowedOrigins }),
  });
  return {
    ...bridge,
    async close() {
      await bridge.close();
      await close();
    },
  };
}

/** A server's name where nobody gave one: its host, or the command's last part. */
export function nameOf(connection: Connection): string {
  return connection.type === "url"
    ? new URL(connection.url).host
    : (connection.command.split(/[\\/]/).at(-1) ?? connection.command);
}
