import { createHash } from "node:crypto";
import { afterEach, expect } from "vitest";
import {
  DEFAULT_LIMITS,
  type Limits,
  LOCAL_PRINCIPAL,
  type Sealer,
  toPrincipal,
} from "../../src/index.js";
import type { Caller } from "../../src/model/caller.js";
import type { LogLevel } from "../../src/model/log-level.js";
import type { Notice } from "../../src/model/notice.js";
import type { Outcome } from "../../src/model/operation.js";
import {
  createLegacyUpstream,
  type LegacyUpstream,
  type LegacyUpstreamOptions,
} from "../../src/upstream/legacy-upstream.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { createManualClock, type ManualClock, settle } from "../support/manual-clock.js";
import { createRecordingJournal } from "./fakes.js";
import {
  createScriptedServer,
  type ScriptedServer,
  type ScriptedServerOptions,
} from "./scripted-legacy-server.js";

/** No roots: with them the first call of a session waits for the server's first question. */
const FORMS = '{"elicitation":{"form":{}}}';
export const EVERYTHING = '{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}';

export interface RigOptions extends ScriptedServerOptions {
  readonly limits?: Partial<Limits>;
  readonly upstream?: Partial<LegacyUpstreamOptions>;
}

export interface CallOptions {
  readonly method?: string;
  readonly params?: unknown;
  readonly paramsText?: string;
  readonly capabilities?: string;
  readonly principal?: string;
  readonly caller?: Partial<Caller>;
  readonly logLevel?: LogLevel;
  readonly wantsProgress?: boolean;
  /** `requestState` as the client has it. */
  readonly state?: string;
  readonly responses?: unknown;
  readonly responsesText?: string;
}

/** One round of a client: what it was told, and how it ended. */
export interface Round {
  readonly notices: Notice[];
  outcome: Outcome | undefined;
  readonly done: Promise<Outcome>;
  /** The client goes away. */
  leave(): void;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  result(): any;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  error(): any;
  /** The `requestState` of a round that ended with questions. */
  state(): string;
  keys(): readonly string[];
}

export interface Rig {
  readonly clock: ManualClock;
  readonly server: ScriptedServer;
  readonly upstream: LegacyUpstream;
  readonly journal: ReturnType<typeof createRecordingJournal>;
  call(options?: CallOptions): Round;
  caller(options?: CallOptions): Caller;
}

const rigs: Rig[] = [];

/** Not secret, but as unforgiving as a real one: any change makes it unreadable. */
const plainSealer: Sealer = {
  seal: (plain) => `${Buffer.from(plain).toString("base64url")}.${digest(plain)}`,
  open(sealed) {
    const plain = Buffer.from(sealed.split(".")[0] ?? "", "base64url").toString();
    return plainSealer.seal(plain) === sealed ? plain : undefined;
  },
  fingerprint: digest,
};

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

export function createRig(options: RigOptions = {}): Rig {
  const clock = createManualClock();
  const server = createScriptedServer(options);
  const journal = createRecordingJournal();
  const upstream = createLegacyUpstream({
    name: "server",
    openLink: () => server.openLink(),
    clock,
    sealer: plainSealer,
    entropy: createCountingEntropy(),
    journal,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    policy: "shared",
    attribution: "adaptive",
    identity: '{"name":"erabridge","version":"0"}',
    ...options.upstream,
  });

  const caller = ({ principal, capabilities, caller: more }: CallOptions = {}): Caller => ({
    principal: principal === undefined ? LOCAL_PRINCIPAL : toPrincipal(principal),
    anonymous: false,
    identity: '{"name":"client","version":"1"}',
    capabilities: capabilities ?? FORMS,
    affinity: undefined,
    authorization: undefined,
    ...more,
  });

  const call = (round: CallOptions = {}): Round => {
    const controller = new AbortController();
    const notices: Notice[] = [];
    const { state, responses } = round;
    const responsesText =
      round.responsesText ?? (responses === undefined ? undefined : JSON.stringify(responses));
    const answers =
      state === undefined && responsesText === undefined
        ? undefined
        : {
            continuation: state === undefined ? undefined : JSON.stringify(state),
            responses: responsesText,
          };
    const done = upstream.relay(
      {
        method: round.method ?? "tools/call",
        params: round.paramsText ?? JSON.stringify(round.params ?? { name: "t", arguments: {} }),
        caller: caller(round),
        logLevel: round.logLevel,
        wantsProgress: round.wantsProgress ?? false,
        answers,
      },
      (notice) => notices.push(notice),
      controller.signal,
    );
    const made: Round = {
      notices,
      outcome: undefined,
      done,
      leave: () => controller.abort(),
      result() {
        if (made.outcome?.type !== "complete" && made.outcome?.type !== "input-required")
          throw new Error(`no result but ${JSON.stringify(made.outcome)}`);
        return JSON.parse(made.outcome.result);
      },
      error() {
        if (made.outcome?.type !== "failed")
          throw new Error(`no error but ${JSON.stringify(made.outcome)}`);
        return JSON.parse(made.outcome.error.text);
      },
      state() {
        if (made.outcome?.type !== "input-required")
          throw new Error(`no questions but ${JSON.stringify(made.outcome)}`);
        return JSON.parse(made.outcome.continuation ?? "null");
      },
      keys: () => Object.keys(made.result().inputRequests),
    };
    void done.then((outcome) => {
      expect(made.outcome).toBeUndefined();
      made.outcome = outcome;
    });
    return made;
  };

  const rig: Rig = { clock, server, upstream, journal, call, caller };
  rigs.push(rig);
  return rig;
}

// Conservation: whatever a test did, closing leaves no session, call, watcher, question or timer.
afterEach(async () => {
  for (const { upstream, server, clock } of rigs.splice(0)) {
    await upstream.close();
    await settle();
    expect(upstream.stats()).toEqual({
      sessions: 0,
      opening: 0,
      waiting: 0,
      calls: 0,
      parked: 0,
      watchers: 0,
      heldQuestions: 0,
    });
    expect(server.sessions.filter(({ closed }) => !closed)).toEqual([]);
    expect(clock.pending).toBe(0);
  }
});
