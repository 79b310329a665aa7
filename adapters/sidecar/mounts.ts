import { openServed, type Served, type ServedDeps } from "./served.js";
import type { Mount } from "./settings.js";

/** The bridges of a sidecar by path, which can change while others work. */
export interface Mounts {
  /** Opens what is new, closes what is gone, leaves the rest alone. */
  update(mounts: readonly Mount[]): void;
  at(path: string): Served | undefined;
  list(): readonly Served[];
  /** Refuses new requests and waits for those in flight. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function createMounts(deps: ServedDeps): Mounts {
  const { journal } = deps;
  const served = new Map<string, Served>();
  const ending = new Set<Promise<void>>();

  const stop = (path: string): void => {
    const entry = served.get(path);
    if (entry === undefined) return;
    served.delete(path);
    const end = entry.end().finally(() => ending.delete(end));
    ending.add(end);
  };

  /** `/sse` and `/messages` by themselves, where clients of the oldest revision look for them. */
  const only = (path: string): Served | undefined => {
    const [first, ...others] = served.values();
    return others.length === 0 && SSE_PATHS.includes(path) ? first : undefined;
  };

  return {
    update(mounts) {
      const wanted = new Map(mounts.map((mount) => [mount.path, JSON.stringify(mount.upstream)]));
      for (const [path, { settings }] of [...served]) {
        if (wanted.get(path) === JSON.stringify(settings)) continue;
        journal.info("server-removed", { upstream: settings.name, path });
        stop(path);
      }
      for (const mount of mounts) {
        if (served.has(mount.path)) continue;
        journal.info("server-added", { upstream: mount.upstream.name, path: mount.path });
        served.set(mount.path, openServed(mount, deps));
      }
    },
    at: (path) => served.get(path) ?? served.get(withoutSse(path)) ?? only(path),
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

/** The paths of HTTP+SSE, below those of an endpoint (2024-11-05/basic/transports). */
const SSE_PATHS: readonly string[] = ["/sse", "/messages"];

function withoutSse(path: string): string {
  const suffix = SSE_PATHS.find((known) => path.endsWith(known));
  return suffix === undefined ? path : path.slice(0, -suffix.length);
}

/** A request's path as mounts have it: without escapes, and without a slash at its end. */
export function decodePath(path: string): string {
  const plain = path.length > 1 ? path.replace(/\/+$/, "") : path;
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
