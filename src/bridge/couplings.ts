import type { CallOutlet } from "../front/call-outlet.js";
import { createInFlight } from "../front/in-flight.js";
import type { LegacyFrontDeps } from "../front/legacy-deps.js";
import type { LegacyFront, LegacyFrontOptions } from "../front/legacy-session.js";
import type { Sender } from "../front/modern-request.js";
import type { RequestMessage } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import { createDeadlines } from "../upstream/deadlines.js";
import type { OpenLink } from "../upstream/era-source.js";
import { createCoupledSession } from "./coupled-session.js";
import type { Gauge } from "./gauge.js";
import { createRenewedLink } from "./renewed-link.js";

/** A client that is about to shake hands, and how to reach a server for it. */
export interface CouplingOptions {
  readonly openLink: OpenLink;
  readonly caller: Caller;
  readonly front: LegacyFrontOptions;
  /** Takes over a request that the server did not touch, while no handshake is agreed. */
  readonly handOver: (message: RequestMessage, outlet: CallOutlet, sender: Sender) => boolean;
}

/** The legacy clients that have a session of their own at the server. */
export interface Couplings {
  /** Undefined where there is no room for one more session at the server. */
  open(options: CouplingOptions): LegacyFront | undefined;
  readonly size: number;
  /** Resolves when what ended sessions had at the server is gone; called when all have been closed. */
  close(): Promise<void>;
}

export interface CouplingsDeps extends LegacyFrontDeps {
  readonly gauge: Gauge;
  /** Each session has a server process of its own. */
  readonly spawns: boolean;
  /** A server has agreed to a handshake of this era. */
  readonly agreed: () => void;
}

export function createCouplings(deps: CouplingsDeps): Couplings {
  const { clock, journal, limits } = deps;
  const deadlines = createDeadlines(clock);
  const rooms = createInFlight(deps.spawns ? limits.maxSessionsPerPrincipal : limits.maxSessions);
  const ending = new Set<Promise<void>>();
  let size = 0;

  return {
    open({ openLink, caller, front, handOver }) {
      const { principal } = caller;
      if (size >= limits.maxSessions || !rooms.enter(principal)) {
        journal.warn("session-not-coupled", { sessions: size });
        return undefined;
      }
      size += 1;
      const life = new AbortController();
      const link = createRenewedLink({ ...deps, openLink: () => openLink(caller, life.signal) });
      const session = createCoupledSession({ ...deps, deadlines, link, handOver }, front);
      return {
        request: session.request,
        notification: session.notification,
        response: session.response,
        drain: session.drain,
        get handshake() {
          return session.handshake;
        },
        get openCalls() {
          return session.openCalls;
        },
        close() {
          if (life.signal.aborted) return;
          session.close();
          life.abort();
          const gone = link.close().finally(() => {
            ending.delete(gone);
            rooms.leave(principal);
            size -= 1;
          });
          ending.add(gone);
        },
      };
    },
    get size() {
      return size;
    },
    async close() {
      await Promise.all(ending);
      deadlines.close();
    },
  };
}
