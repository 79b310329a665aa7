import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** A server process with all it has started. */
export interface ProcessGroup {
  /** Some of it still runs. */
  alive(): boolean;
  /**
   * Waits for it to go after the end of its input, then asks (SIGTERM), then insists (SIGKILL),
   * with `graceMs` before each. Resolves when nothing is left.
   */
  end(graceMs: number): Promise<void>;
}

const POLL_MS = 10;
/** After SIGKILL only the system stands between a process and its end. */
const KILLED_MS = 1_000;

/** Groups that must not outlive this process, whatever ends it short of SIGKILL. */
const living = new Set<Signalled>();
let hooked = false;

interface Signalled {
  signal(name: "SIGTERM" | "SIGKILL"): void;
}

/**
 * Watches a child that leads a process group of its own (`detached`; on Windows, its process
 * tree). The group is killed when this process exits.
 */
export function watchProcessGroup(child: ChildProcess, pid: number): ProcessGroup {
  const group = process.platform === "win32" ? windowsTree(child, pid) : posixGroup(pid);
  living.add(group);
  if (!hooked) {
    hooked = true;
    process.on("exit", () => {
      for (const each of living) each.signal("SIGKILL");
    });
  }

  const alive = (): boolean => {
    const found = group.alive();
    if (!found) living.delete(group);
    return found;
  };
  const goneWithin = async (ms: number): Promise<boolean> => {
    for (let waited = 0; alive(); waited += POLL_MS) {
      if (waited >= ms) return false;
      await sleep(POLL_MS);
    }
    return true;
  };
  return {
    alive,
    async end(graceMs) {
      if (await goneWithin(graceMs)) return;
      group.signal("SIGTERM");
      if (await goneWithin(graceMs)) return;
      group.signal("SIGKILL");
      await goneWithin(KILLED_MS);
      living.delete(group);
    },
  };
}

function posixGroup(pid: number): Signalled & { alive(): boolean } {
  const send = (name: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-pid, name);
    } catch (error) {
      // A member that runs as another user still counts.
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  };
  return { signal: (name) => void send(name), alive: () => send(0) };
}

function windowsTree(child: ChildProcess, pid: number): Signalled & { alive(): boolean } {
  return {
    signal(name) {
      const force = name === "SIGKILL" ? ["/F"] : [];
      spawn("taskkill", ["/PID", String(pid), "/T", ...force], { stdio: "ignore" }).on(
        "error",
        () => child.kill(),
      );
    },
    alive: () => child.exitCode === null && child.signalCode === null,
  };
}
