import type { Bridge, Journal } from "../../src/index.js";
import { createNodeHandler, type NodeHandler } from "../http/node-http.js";
import type { Mount, UpstreamSettings } from "./settings.js";

/** An upstream that is being served. */
export interface Served {
  readonly path: string;
  readonly settings: UpstreamSettings;
  readonly bridge: Bridge;
  /** False until the server was reached once; with `lazy`, true at once. */
  ready(): boolean;
}

/** The bridges of a sidecar by path, which can change while others work. */
export interface Mounts {
  /** Opens what is new, closes what is gone, leaves the rest alone. */
  update(mounts: readonly Mount[]): void;
  handlerAt(path: string): NodeHandler | undefined;
  list(): readonly Served[];
  /** Refuses new requests and waits for those in flight. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface MountsDeps {
  readonly journal: Journal;
  readonly open: (settings: UpstreamSettings) => Bridge;
}

export function createMounts({ journal, open }: MountsDeps): Mounts {
  interface Entry extends Served {
    /** The settings as text, to tell whether they changed. */
    readonly text: string;
    readonly handler: NodeHandler;
  }
  const served = new Map<string, Entry>();
  const ending = new Set<Promise<void>>();

  const start = ({ path, upstream }: Mount): void => {
    const bridge = open(upstream);
    let ready = upstream.lazy;
    served.set(path, {
      path,
      settings: upstream,
      text: JSON.stringify(upstream),
      bridge,
      handler: createNodeHandler(bridge.handle, {
        maxBodyBytes: upstream.limits.maxMessageBytes,
        onFault: (error) => journal.error("request-fault", { upstream: upstream.name, error }),
      }),
      ready: () => ready,
    });
    if (upstream.lazy) return;
    bridge.warm().then(
      () => {
        ready = true;
      },
      (error: unknown) => {
        journal.error("server-unavailable", { upstream: upstream.name, error });
      },
    );
  };

  const stop = (path: string): void => {
    const entry = served.get(path);
    if (entry === undefined) return;
    served.delete(path);
    const end = entry.bridge
      .drain()
      .then(() => entry.bridge.close())
      .finally(() => ending.delete(end));
    ending.add(end);
  };

  return {
    update(mounts) {
      const wanted = new Map(mounts.map((mount) => [mount.path, JSON.stringify(mount.upstream)]));
      for (const [path, entry] of [...served]) {
        if (wanted.get(path) === entry.text) continue;
        journal.info("server-removed", { upstream: entry.settings.name, path });
        stop(path);
      }
      for (const mount of mounts) {
        if (served.has(mount.path)) continue;
        journal.info("server-added", { upstream: mount.upstream.name, path: mount.path });
        start(mount);
      }
    },
    handlerAt: (path) => served.get(path)?.handler,
    list: () => [...served.values()],
    async drain() {
      await Promise.all([...served.values()].map(({ bridge }) => bridge.drain()));
    },
    async close() {
      for (const path of [...served.keys()]) stop(path);
      await Promise.all(ending);
    },
  };
}
