import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import type { Sealer } from "../ports/sealer.js";
import { CANCELLED, createCalls } from "./calls.js";
import { createDeadlines } from "./deadlines.js";
import { type LegacySession, openLegacySession, type SessionEvents } from "./legacy-session.js";
import type { Link } from "./link.js";
import { refuseQuestion, toQuestion } from "./question.js";
import { createSessionKeys } from "./session-key.js";
import { createSessionPool, type SessionPolicy } from "./session-pool.js";

/** How a question that belongs to no request on the wire finds the call that caused it. */
export type AttributionPolicy = "adaptive" | "exclusive";

export interface LegacyUpstreamOptions {
  /** For logs and error messages. */
  readonly name: string;
  /** Opens one more conversation with the server, up to where `initialize` may be sent. */
  readonly openLink: (caller: Caller, signal: AbortSignal) => Promise<Link>;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly entropy: Entropy;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly policy: SessionPolicy;
  readonly attribution: AttributionPolicy;
  /** The `roots` array to tell servers that ask outside a call. */
  readonly staticRoots?: JsonText;
  /** The bridge's own `Implementation` object, for callers that do not say who they are. */
  readonly identity: JsonText;
}

/** What an upstream holds at the moment. */
export interface UpstreamStats {
  readonly sessions: number;
  readonly opening: number;
  /** Requests that wait for a session or for their turn. */
  readonly waiting: number;
  /** Calls that have not ended, parked ones included. */
  readonly calls: number;
  readonly parked: number;
  readonly watchers: number;
  /** Questions that wait to be attributed, or for a call that can carry them. */
  readonly heldQuestions: number;
}

export interface LegacyUpstream extends Service {
  stats(): UpstreamStats;
}

/** A stateful legacy server as a service without sessions. */
export function createLegacyUpstream(options: LegacyUpstreamOptions): LegacyUpstream {
  const { name, clock, limits, journal } = options;
  const deadlines = createDeadlines(clock);
  let serial = 0;

  const events: SessionEvents = {
    asked(session, message) {
      const question = toQuestion(session, message);
      if (question !== undefined) refuseQuestion(question, "client input is not available");
    },
    told() {},
    ended(session) {
      pool.drop(session);
    },
  };

  const pool = createSessionPool({
    name,
    policy: options.policy,
    keys: createSessionKeys(),
    open: (caller, signal) =>
      openLegacySession({
        serial: ++serial,
        name,
        caller,
        identity: options.identity,
        openLink: options.openLink,
        signal,
        clock,
        deadlines,
        journal,
        limits,
        events,
      }),
    clock,
    deadlines,
    journal,
    limits,
  });

  const forget = (session: LegacySession): void => {
    session.forget();
    pool.drop(session);
  };

  const calls = createCalls({
    name,
    pool,
    limits,
    hooks: {
      needOf: ({ method }) => ({ need: mayRequireInput(method) ? "any" : "first", askable: false }),
      prepare: () => undefined,
      amend: (_call, params) => params,
      answered: () => false,
      cancelled: () => false,
      left() {},
      ended() {},
      sessionGone: forget,
    },
  });

  return {
    async describe(caller, signal) {
      const lease = await pool.acquire(caller, "first", false, signal);
      const { advertisement } = lease.session;
      lease.release();
      return advertisement;
    },
    relay: (operation, notices, signal) => calls.start(operation, notices, signal),
    watch: () => Promise.reject(new BridgeError("not-bridgeable", "changes cannot be watched")),
    notify() {},
    async close() {
      for (const call of [...calls.all]) {
        calls.stop(call, {
          reason: "the bridge is shutting down",
          end: "lost",
          outcome: CANCELLED,
        });
      }
      await pool.close();
      deadlines.close();
    },
    stats: () => ({
      sessions: pool.sessions,
      opening: pool.opening,
      waiting: pool.waiting,
      calls: calls.all.size,
      parked: 0,
      watchers: 0,
      heldQuestions: 0,
    }),
  };
}
