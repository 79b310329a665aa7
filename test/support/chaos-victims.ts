import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ChaosServer, startChaosServer } from "./chaos-http-server.js";
import { isAlive } from "./cli.js";

const CHILD = fileURLToPath(new URL("./chaos-child.mjs", import.meta.url));

/** A server to kill, and what it did. */
export interface Victim {
  readonly target: readonly string[];
  /** Does one terrible thing to it. */
  hurt(random: () => number): void;
  /** Ends it once; it is back when this resolves, and remembers nothing. */
  kill(): Promise<void>;
  runs(): ReadonlyMap<string, number>;
  /** Processes of it that still run. */
  alive(): readonly number[];
  /** Makes it whole again. */
  heal(): Promise<void>;
  readonly sessions: number;
}

export type Upstream =
  | "legacy stdio"
  | "modern stdio"
  | "legacy json"
  | "legacy events"
  | "legacy events-with-ids"
  | "legacy one-stream"
  | "modern json"
  | "modern events";

/** Starts servers to kill, and ends what is left of them. */
export interface Victims {
  start(upstream: Upstream): Promise<Victim>;
  close(): Promise<void>;
}

export function createVictims(): Victims {
  const folder = mkdtempSync(join(tmpdir(), "erabridge-kill-"));
  const servers: ChaosServer[] = [];
  let serial = 0;
  return {
    async start(upstream) {
      const [era = "", how = ""] = upstream.split(" ");
      if (how === "stdio") return stdioVictim(era, join(folder, `${++serial}`));
      const server = await startChaosServer({ era: era as "legacy", answers: how as "json" });
      servers.push(server);
      return httpVictim(server);
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      rmSync(folder, { recursive: true });
    },
  };
}

function stdioVictim(era: string, ledger: string): Victim {
  const lines = (): string[] => {
    try {
      return readFileSync(ledger, "utf8").split("\n");
    } catch {
      return [];
    }
  };
  const values = (word: string): string[] =>
    lines().flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const alive = () => values("start").map(Number).filter(isAlive);
  const hurt = (): void => {
    for (const pid of alive()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It was on its way out.
      }
    }
  };
  return {
    target: [process.execPath, CHILD, era, ledger],
    hurt,
    kill: async () => hurt(),
    runs() {
      const counts = new Map<string, number>();
      for (const key of values("run")) counts.set(key, (counts.get(key) ?? 0) + 1);
      return counts;
    },
    alive,
    heal: async () => undefined,
    sessions: 0,
  };
}

function httpVictim(server: ChaosServer): Victim {
  let reviving: Promise<void> | undefined;
  const crash = async (ms: number): Promise<void> => {
    await server.crash();
    await new Promise((resolve) => setTimeout(resolve, ms));
    await server.revive();
    reviving = undefined;
  };
  return {
    target: [server.url],
    hurt(random) {
      const dice = random();
      if (reviving !== undefined) return;
      if (dice < 0.4) server.cutStreams();
      else if (dice < 0.7) server.cutConnections();
      else reviving = crash(random() * 150);
    },
    kill: () => crash(0),
    runs: () => server.runs,
    alive: () => [],
    async heal() {
      await reviving;
    },
    get sessions() {
      return server.sessions;
    },
  };
}
