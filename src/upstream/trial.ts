import { BridgeError } from "../errors.js";
import type { Message } from "../jsonrpc/message.js";
import type { Limits } from "../model/limits.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Channel } from "../ports/channel.js";
import type { Clock, Stop } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { type ChannelLink, createChannelLink } from "./channel-link.js";
import type { Link, LinkLoss, LinkReceiver, LinkRequest } from "./link.js";
import { judgeAnswer, PROBE_ID, type ProbeFinding } from "./probe.js";

/** Calls of a server that come before anyone uses the conversation. */
const MAX_EARLY = 100;
/** How long a modern server may take to refuse the `initialize` that went out behind the probe. */
const REFUSAL_MS = 2_000;
const MODERN = "the server speaks the modern era";

/** What a trial told; `ended`: the server went away without an answer. */
export type TrialFinding = ProbeFinding | { readonly type: "ended"; readonly detail: string };

/**
 * The first conversation with a server whose era is not known, begun with the probe and handed on to
 * whoever speaks that era. The process is the one that will be used: none is started only to look.
 *
 * A server that stays silent is lent to a legacy session, whose `initialize` goes out behind the
 * probe. Answers come in order, so whichever comes first proves the era; `proved` then tells it. Does it
 * prove a modern server, the session loses its link as if nothing had been sent, and the conversation
 * can be lent again. If a server goes away that has answered nothing but the probe, it is started once
 * more and given the `initialize` first, and the session does not notice.
 */
export interface Trial {
  /** Settles with the first answer to the probe, or the end of the server; not at all while it is silent. */
  readonly finding: Promise<TrialFinding>;
  readonly startedAt: number;
  /** The conversation, for one user at a time; undefined when it cannot be used (any more). */
  lend(): Promise<Link | undefined>;
  /** Ends it where nobody uses it. */
  close(): Promise<void>;
}

export interface TrialOptions {
  readonly channel: Channel;
  /** Undefined: nothing is asked, the era is known. */
  readonly probe: LinkRequest | undefined;
  /** Opens the server once more, at once. */
  readonly reopen: () => Promise<Channel>;
  /** The era was proved after the conversation had been lent. At most once. */
  readonly proved: (finding: ProbeFinding) => void;
  readonly name: string;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

export function startTrial(options: TrialOptions): Trial {
  const { name, clock, journal } = options;
  let inner: ChannelLink = createChannelLink(options);
  let silent = options.probe !== undefined;
  let restarts = options.probe === undefined ? 0 : 1;
  let ended: string | undefined;
  let closing = false;
  let restarting: Promise<void> | undefined;
  let user: LinkReceiver | undefined;
  /** Counts the users: a link lent to an earlier one does nothing any more. */
  let lending = 0;
  let inUse = false;
  let early: Message[] = [];
  /** What the present user asked and is not answered. */
  const asked = createTurnoverMap<number, LinkRequest>();
  /** Settles when the server has answered what an earlier user asked. */
  let settledBehind: Promise<boolean> = Promise.resolve(true);
  let answeredBehind: ((id: number, sound: boolean) => void) | undefined;
  let tell: (finding: TrialFinding) => void = () => undefined;
  const finding = new Promise<TrialFinding>((resolve) => {
    tell = resolve;
  });

  const prove = (proof: ProbeFinding): void => {
    if (!silent) return;
    silent = false;
    if (proof.type !== "legacy") restarts = 0;
    inner.forsake(PROBE_ID);
    if (inUse) options.proved(proof);
    tell(proof);
    if (inUse && proof.type !== "legacy") withdraw();
  };

  /** Takes the conversation from a session that a modern server has no use for. */
  const withdraw = (): void => {
    const behind = [...asked.keys()];
    const from = user;
    asked.clear();
    user = undefined;
    inUse = false;
    lending += 1;
    if (behind.length > 0) settledBehind = waitFor(new Set(behind));
    for (const id of behind) from?.lost(id, { kind: "not-sent", detail: MODERN });
    from?.closed(MODERN);
  };

  const waitFor = (ids: Set<number>): Promise<boolean> =>
    new Promise((resolve) => {
      const done = (clean: boolean): void => {
        stop();
        answeredBehind = undefined;
        // A server that took the handshake may have chosen the other era for this conversation.
        if (!clean) void inner.close();
        resolve(clean);
      };
      const stop: Stop = clock.after(REFUSAL_MS, () => done(false));
      answeredBehind = (id, sound) => {
        if (!sound) done(false);
        else if (ids.delete(id) && ids.size === 0) done(true);
      };
    });

  const restart = async (detail: string): Promise<void> => {
    journal.info("upstream-restarted", { upstream: name, reason: "it ended on the probe", detail });
    try {
      inner = createChannelLink({ ...options, channel: await options.reopen() });
    } catch (error) {
      end(error instanceof BridgeError ? error.message : detail);
      return;
    }
    restarting = undefined;
    inner.start(receiver);
    if (closing) await inner.close();
    else for (const request of asked.values()) inner.request(request);
  };

  const end = (detail: string): void => {
    ended = detail;
    for (const id of [...asked.keys()]) lose(id, { kind: "broken", detail });
    user?.closed(detail);
    answeredBehind?.(0, false);
    tell({ type: "ended", detail });
  };

  const lose = (id: number, loss: LinkLoss): void => {
    if (asked.delete(id)) user?.lost(id, loss);
    else answeredBehind?.(id, false);
  };

  const pass = (message: Message): void => {
    if (user !== undefined) user.message(message, undefined);
    else if (early.length < MAX_EARLY) early.push(message);
  };

  const receiver: LinkReceiver = {
    message(message) {
      if (message.type !== "response" && message.type !== "error") {
        pass(message);
        return;
      }
      const id = Number(message.id);
      if (id === PROBE_ID) {
        prove(judgeAnswer(message));
        return;
      }
      const request = asked.get(id);
      if (request === undefined) {
        answeredBehind?.(id, message.type === "error");
        return;
      }
      asked.delete(id);
      // From here on it is a server that works, and its end is a crash.
      restarts = 0;
      const proof: ProbeFinding =
        silent && message.type === "error"
          ? judgeAnswer(message)
          : { type: "legacy", reason: "answered initialize" };
      if (proof.type === "legacy") pass(message);
      else user?.lost(id, { kind: "not-sent", detail: MODERN });
      prove(proof);
    },
    lost(id, loss) {
      if (id === PROBE_ID) {
        // No proof: half a line may be the last thing that a dying server writes.
        if (loss.kind === "invalid") {
          tell({ type: "legacy", reason: "answered the probe with no message" });
        }
        return;
      }
      // Held back where the server is about to be started once more.
      if (restarts > 0 && inUse && loss.kind === "broken") return;
      lose(id, loss);
    },
    closed(detail) {
      if (restarts > 0 && inUse && !closing) {
        restarts -= 1;
        restarting = restart(detail);
      } else end(detail);
    },
  };

  const lendNow = (): Link => {
    inUse = true;
    lending += 1;
    const mine = lending;
    const current = (): boolean => mine === lending;
    return {
      associates: false,
      listens: true,
      start(to) {
        if (!current()) return;
        user = to;
        const kept = early;
        early = [];
        for (const message of kept) to.message(message, undefined);
        if (ended !== undefined) to.closed(ended);
      },
      request(request) {
        if (!current()) return;
        asked.set(request.id, request);
        if (restarting === undefined) inner.request(request);
      },
      send(text) {
        if (current()) inner.send(text);
      },
      cancel(id, reason, words) {
        if (!current()) return;
        asked.delete(id);
        inner.cancel(id, reason, words);
      },
      established: () => Promise.resolve(),
      async close() {
        if (!current()) return;
        closing = true;
        await restarting;
        await inner.close();
      },
    };
  };

  inner.start(receiver);
  if (options.probe !== undefined) inner.request(options.probe);

  return {
    finding,
    startedAt: clock.now(),
    async lend() {
      // Whoever proves the server modern asks for it before the conversation is taken back.
      await Promise.resolve();
      const clean = await settledBehind;
      return clean && ended === undefined && !closing && !inUse ? lendNow() : undefined;
    },
    async close() {
      if (inUse) return;
      closing = true;
      await inner.close();
    },
  };
}
