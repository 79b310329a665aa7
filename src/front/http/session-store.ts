import type { Limits } from "../../model/limits.js";
import type { Clock, Stop } from "../../ports/clock.js";
import type { Entropy } from "../../ports/entropy.js";
import type { Journal } from "../../ports/journal.js";
import type { Sealer } from "../../ports/sealer.js";
import type { Handshake } from "../legacy-handshake.js";
import type { Sender } from "../modern-request.js";
import type { HttpSession } from "./http-session.js";
import { openSessionId, type SessionTicket, sealSessionId } from "./session-id.js";

/** The legacy sessions of one endpoint, each bound to the principal that opened it. */
export interface SessionStore {
  /** Gives a session that has just been opened its id; undefined when there is no room. */
  add(session: HttpSession, handshake: Handshake, sender: Sender): string | undefined;
  /** The session of an id, for the principal it belongs to and for nobody else. */
  find(id: string, sender: Sender): HttpSession | undefined;
  /** Ends a session on its client's wish; false when there is none. */
  end(id: string, sender: Sender): boolean;
  readonly size: number;
  close(): void;
}

export interface SessionStoreDeps {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  readonly journal: Journal;
  readonly limits: Pick<Limits, "frontSessionIdleMs" | "maxFrontSessions" | "sessionIdMs">;
  /** Makes a session go on that another instance opened. */
  readonly resume: (handshake: Handshake, sender: Sender) => HttpSession;
}

interface Entry {
  readonly id: string;
  readonly principal: string;
  readonly nonce: string;
  /** Another instance issued the id, so it could open the session once more. */
  readonly foreign: boolean;
  readonly session: HttpSession;
  seenAt: number;
}

export function createSessionStore(deps: SessionStoreDeps): SessionStore {
  const { clock, entropy, sealer, journal, limits } = deps;
  const instance = entropy.token();
  /** Least recently used first. */
  const entries = new Map<string, Entry>();
  /** Sessions of other instances that were ended here: nonce and when their ids lapse. */
  const ended = new Map<string, number>();
  let stop: Stop | undefined;

  const drop = (entry: Entry, why: "ended" | "shutdown" = "ended"): void => {
    entries.delete(entry.id);
    entry.session.close(why);
  };

  const sweep = (): void => {
    stop = undefined;
    const idleSince = clock.now() - limits.frontSessionIdleMs;
    for (const entry of [...entries.values()]) {
      if (entry.session.busy) entry.seenAt = clock.now();
      else if (entry.seenAt <= idleSince) drop(entry);
    }
    for (const [nonce, lapsesAt] of ended) if (lapsesAt <= clock.now()) ended.delete(nonce);
    schedule();
  };

  const schedule = (): void => {
    if (entries.size + ended.size === 0) return;
    stop ??= clock.after(limits.frontSessionIdleMs / 4, sweep);
  };

  const touch = (entry: Entry): void => {
    entry.seenAt = clock.now();
    entries.delete(entry.id);
    entries.set(entry.id, entry);
  };

  /** True when there is room; the longest idle session makes some. */
  const makeRoom = (): boolean => {
    if (entries.size < limits.maxFrontSessions) return true;
    for (const entry of entries.values()) {
      if (entry.session.busy) continue;
      journal.info("front-session-evicted");
      drop(entry);
      return true;
    }
    journal.warn("front-sessions-full", { sessions: entries.size });
    return false;
  };

  const enter = (id: string, ticket: SessionTicket, session: HttpSession): void => {
    const { principal, nonce } = ticket;
    const foreign = ticket.instance !== instance;
    entries.set(id, { id, principal, nonce, foreign, session, seenAt: clock.now() });
    schedule();
  };

  const resume = (id: string, sender: Sender): HttpSession | undefined => {
    const ticket = openSessionId(id, sealer);
    if (ticket?.handshake === undefined || ticket.instance === instance) return undefined;
    const foreign = ticket.principal !== sender.principal || ticket.anonymous !== sender.anonymous;
    if (foreign || ticket.expiresAt <= clock.now() || ended.has(ticket.nonce)) return undefined;
    if (!makeRoom()) return undefined;
    journal.info("front-session-resumed");
    const session = deps.resume(ticket.handshake, sender);
    enter(id, ticket, session);
    return session;
  };

  const entryOf = (id: string, { principal }: Sender): Entry | undefined => {
    const entry = entries.get(id);
    return entry?.principal === principal ? entry : undefined;
  };

  return {
    add(session, handshake, { principal, anonymous }) {
      if (!makeRoom()) return undefined;
      const ticket: SessionTicket = {
        instance,
        nonce: entropy.token(),
        principal,
        anonymous,
        expiresAt: clock.now() + limits.sessionIdMs,
        handshake,
      };
      const id = sealSessionId(ticket, sealer);
      enter(id, ticket, session);
      return id;
    },
    find(id, sender) {
      if (!entries.has(id)) return resume(id, sender);
      const entry = entryOf(id, sender);
      if (entry === undefined) return undefined;
      touch(entry);
      return entry.session;
    },
    end(id, sender) {
      if (!entries.has(id)) resume(id, sender);
      const entry = entryOf(id, sender);
      if (entry === undefined) return false;
      drop(entry);
      if (entry.foreign && ended.size < limits.maxFrontSessions) {
        ended.set(entry.nonce, clock.now() + limits.sessionIdMs);
      }
      return true;
    },
    get size() {
      return entries.size;
    },
    close() {
      stop?.();
      stop = undefined;
      for (const entry of [...entries.values()]) drop(entry, "shutdown");
      ended.clear();
    },
  };
}
