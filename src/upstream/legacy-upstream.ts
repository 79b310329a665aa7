import { BridgeError } from "../errors.js";
import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import type { Caller } from "../model/caller.js";
import { toFailed } from "../model/failure.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import { TOOLS_CHANGED } from "../model/notice.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import type { Sealer } from "../ports/sealer.js";
import { type AttributionPolicy, createAttribution } from "./attribution.js";
import { createCallPreparation } from "./call-preparation.js";
import { CANCELLED, type CallHooks, createCalls, type Stop } from "./calls.js";
import { createDeadlines } from "./deadlines.js";
import { readAnswers } from "./dialogue.js";
import { createKnownRoots } from "./known-roots.js";
import { toWireError } from "./legacy-conversation.js";
import { type LegacySession, openLegacySession, type SessionEvents } from "./legacy-session.js";
import type { Link } from "./link.js";
import { createLogLevels } from "./log-levels.js";
import { createParkedRounds, type ParkedRoundsHooks } from "./parked-rounds.js";
import { createParkedTable } from "./parked-table.js";
import { refuseQuestion, toQuestion } from "./question.js";
import { createResumedRounds } from "./resumed-rounds.js";
import { createSealedStates } from "./sealed-state.js";
import { createServerNotices } from "./server-notices.js";
import type { SessionPolicy } from "./session-group.js";
import { createSessionKeys } from "./session-key.js";
import { createSessionPool } from "./session-pool.js";
import { refuseAnswers } from "./state-refusal.js";
import { createSubscriptions } from "./subscriptions.js";
import { createTaskCalls } from "./task-calls.js";
import { createUrlElicitations } from "./url-elicitations.js";

export type { AttributionPolicy } from "./attribution.js";

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
  const { name, clock, limits, journal, entropy, sealer, policy } = options;
  const deadlines = createDeadlines(clock);
  const keys = createSessionKeys();
  const table = createParkedTable(limits);
  const states = createSealedStates({ sealer, clock, instance: entropy.token() });
  let serial = 0;

  const events: SessionEvents = {
    asked(session, message, origin) {
      const question = toQuestion(session, message);
      if (question !== undefined) attribution.asked(question, origin);
    },
    told: (session, message, origin) => serverNotices(session, message, origin),
    ended: (session) => letGo(session),
  };

  const pool = createSessionPool({
    name,
    policy,
    keys,
    open: (caller, signal) =>
      openLegacySession({
        ...{ serial: ++serial, name, caller, signal, clock, deadlines, journal, limits, events },
        identity: options.identity,
        openLink: options.openLink,
      }),
    clock,
    deadlines,
    journal,
    limits,
  });

  /** A session is of no use any more: nothing that hangs on it may wait for it. */
  const letGo = (session: LegacySession): void => {
    roots.sessionEnded(session);
    attribution.sessionEnded(session);
    logLevels.sessionEnded(session);
    pool.drop(session);
    watches.sessionGone(session);
  };

  const forget = (session: LegacySession): void => {
    if (session.state !== "ready") return;
    session.forget();
    letGo(session);
    for (const call of [...calls.all]) {
      if (call.state !== "parked" || call.lease?.session !== session) continue;
      calls.stop(call, { reason: "the session is gone", end: "lost", outcome: CANCELLED });
    }
  };

  const inTurn = (): boolean => policy === "exclusive" || attribution.turnsRequired;

  const hooks: CallHooks = {
    needOf(call) {
      if (!mayRequireInput(call.method)) return { need: "first", askable: false };
      const askable =
        canBeAsked(call.caller.capabilities) &&
        (policy === "exclusive" || attribution.mayAsk(call));
      return { need: askable && inTurn() ? "turn" : "any", askable };
    },
    prepare: (call) => preparation.prepare(call),
    amend: (call, params) => tasks.amend(call, params),
    sent({ method }, session) {
      if (!mayRequireInput(method)) roots.blocked(session);
    },
    answered(call, message) {
      if (message.type === "response") {
        if (tasks.started(call, message)) return true;
        if (canBeAsked(call.caller.capabilities)) attribution.answered(call, message.result);
        return false;
      }
      const session = call.lease?.session;
      const refused = urls.refused(call, toWireError(message.error));
      if (refused && session !== undefined) attribution.left(call, session);
      return refused;
    },
    cancelling: (call) => tasks.cancelling(call),
    left(call, session, answered) {
      if (answered) rounds.answered(call);
      attribution.left(call, session);
      logLevels.changed(call, session);
    },
    ended(call, end) {
      tasks.ended(call);
      rounds.ended(call, end);
    },
    sessionGone: forget,
  };
  const calls = createCalls({ name, pool, limits, hooks });

  const told: ParkedRoundsHooks["told"] = (call, question, answer) => {
    if (question.method === "roots/list") roots.learn(call.caller, answer);
    urls.answered(call, question, answer);
  };

  const rounds = createParkedRounds({
    ...{ name, calls, table, states, clock, entropy, journal, limits },
    hooks: {
      told,
      leftOver(question) {
        if (question.method === "roots/list") roots.ask(question);
        else refuseQuestion(question, "the call is over");
      },
      proceed(call) {
        if (call.task === undefined && !urls.proceed(call)) preparation.proceed(call);
      },
    },
  });

  const resume = createResumedRounds({
    ...{ name, calls, table, rounds, states, journal, limits, told, inTurn },
    attached(call) {
      if (call.lease !== undefined) logLevels.changed(call, call.lease.session);
    },
  });

  const roots = createKnownRoots({
    staticRoots: options.staticRoots,
    clientOf: keys.clientOf,
    inFlight: (session) => calls.of(session).keys(),
    clock,
    limits,
  });

  const attribution = createAttribution({
    ...{ name, calls, roots, clock, journal, limits },
    policy: options.attribution,
    ask: rounds.ask,
  });

  const logLevels = createLogLevels({ clock, limits });
  const tasks = createTaskCalls({ calls, clock, limits });
  const urls = createUrlElicitations({ calls, rounds, clock, limits });
  const preparation = createCallPreparation({
    ...{ calls, pool, rounds, roots, logLevels, tasks, clock, limits },
  });
  const watches = createSubscriptions({ name, pool, clock, journal, limits });

  const serverNotices = createServerNotices({
    ...{ name, calls, journal, limits },
    withdraw(session, id) {
      const gone =
        rounds.withdraw(session, id) ||
        attribution.withdraw(session, id) ||
        roots.withdraw(session, id);
      if (!gone) journal.debug("cancel-dropped", { upstream: name });
    },
    changed(session, message) {
      if (message.method === TOOLS_CHANGED) tasks.forget(session);
      watches.changed(session, message);
    },
    urlCompleted: (session, id) => urls.completed(session, id),
    taskChanged: (session, message) => tasks.changed(session, message),
  });

  return {
    async describe(caller, signal) {
      const lease = await pool.acquire(caller, "first", false, signal);
      const { advertisement } = lease.session;
      lease.release();
      return advertisement;
    },
    relay(operation, notices, signal) {
      const { answers, method } = operation;
      if (answers !== undefined && mayRequireInput(method)) {
        if (answers.continuation !== undefined) return resume(operation, notices, signal);
        if (readAnswers(answers.responses) === "malformed") {
          return Promise.resolve(refuseAnswers("inputResponses must be an object of objects"));
        }
      }
      return calls.start(operation, notices, signal);
    },
    watch: (interest, caller, notices, signal) => watches.watch(interest, caller, notices, signal),
    notify(method, params, caller) {
      const [only, ...others] = caller.anonymous ? [] : pool.sessionsOf(caller.principal);
      if (only !== undefined && others.length === 0) only.conversation.notify(method, params);
      else journal.info("notification-dropped", { upstream: name, method });
    },
    async close() {
      preparation.close();
      for (const call of [...calls.all]) calls.stop(call, SHUTDOWN);
      watches.close();
      attribution.close();
      roots.close();
      logLevels.close();
      await pool.close();
      deadlines.close();
    },
    stats: () => ({
      sessions: pool.sessions,
      opening: pool.opening,
      waiting: pool.waiting,
      calls: calls.all.size,
      parked: table.size,
      watchers: watches.watchers,
      heldQuestions: attribution.held + roots.held,
    }),
  };
}

const SHUTDOWN: Stop = {
  reason: "the bridge is shutting down",
  end: "lost",
  outcome: toFailed(new BridgeError("closed", "the bridge is shutting down")),
};

/** Could a server ask such a client something whose place matters to the user? */
function canBeAsked(capabilities: JsonText): boolean {
  const declared = readObject(capabilities);
  return (
    isObjectText(memberOf(declared, "elicitation")) || isObjectText(memberOf(declared, "sampling"))
  );
}
