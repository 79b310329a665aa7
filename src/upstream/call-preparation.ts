import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Clock, Stop } from "../ports/clock.js";
import { coversRoots } from "../translation/roots.js";
import type { Calls } from "./calls.js";
import type { KnownRoots } from "./known-roots.js";
import type { LegacyCall } from "./legacy-call.js";
import type { LegacySession } from "./legacy-session.js";
import type { LogLevels } from "./log-levels.js";
import type { ParkedRounds } from "./parked-rounds.js";
import type { SessionPool } from "./session-pool.js";
import type { TaskCalls } from "./task-calls.js";

/** What must happen between the lease of a session and the request itself. */
export interface CallPreparation {
  /** Undefined when there is nothing to wait for. */
  prepare(call: LegacyCall): Promise<void> | undefined;
  /** The client answered what the server wanted to know before the call. */
  proceed(call: LegacyCall): void;
  close(): void;
}

export interface CallPreparationOptions {
  readonly calls: Calls;
  readonly pool: SessionPool;
  readonly rounds: ParkedRounds;
  readonly roots: KnownRoots;
  readonly logLevels: LogLevels;
  readonly tasks: Pick<TaskCalls, "learn">;
  readonly clock: Clock;
  readonly limits: Limits;
}

export function createCallPreparation(options: CallPreparationOptions): CallPreparation {
  const { calls, pool, rounds, roots, logLevels, tasks, clock, limits } = options;
  /** Sessions that have carried a call which could have been asked for roots. */
  const used = new WeakSet<LegacySession>();

  const pauses = new Set<Stop>();

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const over = (): void => {
        stop();
        pauses.delete(over);
        resolve();
      };
      const stop = clock.after(ms, over);
      pauses.add(over);
    });

  /** Servers ask for roots as soon as a session opens; its first call waits for that question. */
  const youthLeft = ({ openedAt }: LegacySession): number =>
    openedAt + limits.coalesceMs - clock.now();

  /** Asks for the roots the server waits for, before it gets the call. True when the call waits. */
  const askRootsFirst = (call: LegacyCall, session: LegacySession): boolean => {
    for (const question of roots.take(session)) rounds.ask(call, question, roots.keep);
    if (call.state !== "waiting") return true;
    const renew = roots.missed(session) && !used.has(session) && pool.replace(session);
    used.add(session);
    // The server gave up asking before any call could carry the question: it gets another chance.
    if (renew) calls.restart(call, "anew");
    return renew;
  };

  const canCarryRoots = (call: LegacyCall): boolean =>
    mayRequireInput(call.method) && coversRoots(call.caller.capabilities);

  const late = (call: LegacyCall, session: LegacySession): Promise<void> | undefined => {
    const level = logLevels.want(call, session);
    const tools = tasks.learn(call, session);
    return level === undefined || tools === undefined ? (level ?? tools) : level.then(() => tools);
  };

  const prepareSlowly = async (call: LegacyCall, session: LegacySession): Promise<void> => {
    const wait = youthLeft(session);
    if (wait > 0) await pause(wait);
    if (call.state !== "waiting" || askRootsFirst(call, session)) return;
    await late(call, session);
  };

  return {
    prepare(call) {
      const session = call.lease?.session;
      if (session === undefined) return undefined;
      if (canCarryRoots(call)) {
        if (youthLeft(session) > 0) return prepareSlowly(call, session);
        if (askRootsFirst(call, session)) return Promise.resolve();
      }
      return late(call, session);
    },
    proceed(call) {
      // The server gets time to take the roots in, as it would from a client that sends them early.
      const { dialogue } = call;
      if (dialogue === undefined) return;
      dialogue.stop = clock.after(limits.coalesceMs, () => calls.restart(call, "here"));
    },
    close() {
      for (const over of [...pauses]) over();
    },
  };
}
