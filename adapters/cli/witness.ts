import type { Journal } from "../../src/index.js";

export interface EraFacts {
  readonly era: string;
  readonly revision: string;
  /** How the era was found. */
  readonly reason: string;
}

/** Keeps what the bridge finds out about its server, and hands every event on. */
export interface Witness extends Journal {
  era(): EraFacts;
  /** The server answered at least once. */
  wasThere(): boolean;
  /** Its process ended by itself. */
  died(): boolean;
}

type Facts = Readonly<Record<string, unknown>>;

export function createWitness(next: Journal): Witness {
  const last = new Map<string, Facts>();
  const keep =
    (level: "info" | "warn") =>
    (event: string, facts: Facts = {}): void => {
      last.set(event, facts);
      next[level](event, facts);
    };
  const word = (event: string, fact: string) => {
    const value = last.get(event)?.[fact];
    return typeof value === "string" ? value : undefined;
  };
  return {
    ...next,
    info: keep("info"),
    warn: keep("warn"),
    era: () => ({
      era: word("era-verdict", "era") ?? "unknown",
      revision: word("session-opened", "revision") ?? word("era-verdict", "revision") ?? "unknown",
      reason: word("era-verdict", "reason") ?? "not said",
    }),
    wasThere: () => last.has("session-opened") || word("era-verdict", "era") === "modern",
    died: () => last.has("server-exited"),
  };
}
