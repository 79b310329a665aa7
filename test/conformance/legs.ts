import type { ServerSpec } from "./start-server.js";

interface Measure {
  readonly revision: "2025-11-25" | "2026-07-28";
  /** How many scenarios the pinned suite has for this leg, written out so that it cannot shrink unseen. */
  readonly scenarios: number;
}

/** The suite plays the client against a server, through bridges in the order from client to server. */
export interface ServerLeg extends Measure {
  readonly role: "server";
  readonly server: ServerSpec;
  /** Options of `erabridge serve`, one list per bridge. */
  readonly bridges: readonly (readonly string[])[];
}

/** The suite plays the server; a driver starts a bridge in front of it and a client of the other era. */
export interface ClientLeg extends Measure {
  readonly role: "client";
  readonly driver: string;
}

export type Leg = ServerLeg | ClientLeg;

const legacySuite = { role: "server", revision: "2025-11-25", scenarios: 33 } as const;
const modernSuite = { role: "server", revision: "2026-07-28", scenarios: 40 } as const;
const legacyHttp = { era: "legacy", transport: "http" } as const;
const modernHttp = { era: "modern", transport: "http" } as const;

/** Every leg by name. `a` lets modern clients use legacy servers, `b` the other way round. */
export const legs = {
  "control-legacy": { ...legacySuite, server: legacyHttp, bridges: [] },
  "control-modern": { ...modernSuite, server: modernHttp, bridges: [] },
  "a-http": { ...modernSuite, server: legacyHttp, bridges: [[]] },
  "a-stdio": { ...modernSuite, server: { era: "legacy", transport: "stdio" }, bridges: [[]] },
  "a-get": { ...modernSuite, server: { ...legacyHttp, reverseOn: "get" }, bridges: [[]] },
  "b-http": { ...legacySuite, server: modernHttp, bridges: [[]] },
  "b-stdio": { ...legacySuite, server: { era: "modern", transport: "stdio" }, bridges: [[]] },
  "a-b": {
    ...modernSuite,
    server: modernHttp,
    bridges: [
      ["--upstream-era", "legacy"],
      ["--front-era", "legacy"],
    ],
  },
  "b-a": {
    ...legacySuite,
    server: legacyHttp,
    bridges: [
      ["--upstream-era", "modern"],
      ["--front-era", "modern"],
    ],
  },
  "client-a": {
    role: "client",
    revision: "2025-11-25",
    scenarios: 5,
    driver: "./drivers/client-a.ts",
  },
  "client-b": {
    role: "client",
    revision: "2026-07-28",
    scenarios: 8,
    driver: "./drivers/client-b.ts",
  },
} as const satisfies Record<string, Leg>;

export type LegName = keyof typeof legs;

/**
 * Failures that are known and accepted, as `scenario` or `scenario:check-id`. An entry that no
 * longer fails makes the run fail, so that it is removed.
 */
export const expectedFailures: Readonly<Partial<Record<LegName, readonly string[]>>> = {};
