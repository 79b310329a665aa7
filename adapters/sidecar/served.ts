import {
  type Bridge,
  BridgeError,
  type Clock,
  DEFAULT_LIMITS,
  type Journal,
} from "../../src/index.js";
import { createNodeHandler, type NodeHandler } from "../http/node-http.js";
import type { Mount, UpstreamSettings } from "./settings.js";

/** An upstream that is being served. */
export interface Served {
  readonly path: string;
  readonly settings: UpstreamSettings;
  readonly bridge: Bridge;
  readonly handler: NodeHandler;
  /** False until the server was reached once; with `lazy`, true at once. */
  ready(): boolean;
  /** Lets calls in flight finish, then ends the bridge. */
  end(): Promise<void>;
}

export interface ServedDeps {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly open: (settings: UpstreamSettings) => Bridge;
}

/** Opens a mount's bridge and reaches for its server, again and again until it is there. */
export function openServed({ path, upstream }: Mount, deps: ServedDeps): Served {
  const { clock, journal } = deps;
  const { restartPauseMs, restartPauseMaxMs } = { ...DEFAULT_LIMITS, ...upstream.limits };
  const bridge = deps.open(upstream);
  let ready = upstream.lazy;
  let ended = false;
  let stopWaiting = (): void => undefined;

  const reach = async (pauseMs: number): Promise<void> => {
    try {
      await bridge.warm();
      ready = true;
    } catch (error) {
      if (ended) return;
      if (wantsClients(error)) {
        ready = true;
        return;
      }
      journal.error("server-unavailable", { upstream: upstream.name, error });
      const next = Math.min(pauseMs * 2, restartPauseMaxMs);
      stopWaiting = clock.after(pauseMs, () => void reach(next));
    }
  };
  /** It is there: only its clients have what it asks for. */
  const wantsClients = (error: unknown): boolean =>
    upstream.sameResource && error instanceof BridgeError && error.code === "upstream-unauthorized";

  if (!upstream.lazy) void reach(restartPauseMs);

  return {
    path,
    settings: upstream,
    bridge,
    handler: createNodeHandler(bridge.handle, {
      maxBodyBytes: upstream.limits.maxMessageBytes,
      onFault: (error) => journal.error("request-fault", { upstream: upstream.name, error }),
    }),
    ready: () => ready,
    async end() {
      ended = true;
      stopWaiting();
      await bridge.drain();
      await bridge.close();
    },
  };
}
