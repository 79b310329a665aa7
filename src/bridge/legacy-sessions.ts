import type { CallOutlet } from "../front/call-outlet.js";
import { createLegacyFront } from "../front/legacy-front.js";
import { readHandshake } from "../front/legacy-handshake.js";
import type { LegacyFront, OpenLegacyFront } from "../front/legacy-session.js";
import type { Sender } from "../front/modern-request.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../jsonrpc/error-codes.js";
import { errorText, type RequestMessage, resultText } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import { wireError } from "../model/wire-error.js";
import { PONG } from "../translation/liveness.js";
import type { OpenLink } from "../upstream/era-source.js";
import { type CouplingsDeps, createCouplings } from "./couplings.js";

export interface LegacySessionsDeps extends CouplingsDeps {
  /**
   * How to open conversations with a legacy server, found as for a first request of this caller;
   * undefined where sessions are to be kept by the bridge. Never rejects.
   */
  readonly legacyLinks: (caller: Caller, signal: AbortSignal) => Promise<OpenLink | undefined>;
}

/** The sessions of legacy clients, whatever carries them. */
export interface LegacySessions {
  /**
   * Opens the session of a legacy client: coupled to a session of its own where the server is legacy
   * as well, so that nothing is lost between the two, else kept by the bridge. Which of them is known
   * once the server has been looked at; what the client sends until then waits.
   */
  readonly open: OpenLegacyFront;
  /** Sessions that have a session of their own at the server. */
  readonly coupled: number;
  /** Refuses new requests; those in flight go on. */
  drain(): void;
  /** Resolves when what ended sessions had at the server is gone; called when all have been closed. */
  close(): Promise<void>;
}

export function createLegacySessions(deps: LegacySessionsDeps): LegacySessions {
  const { limits } = deps;
  const couplings = createCouplings(deps);
  let draining = false;

  const openSession: OpenLegacyFront = (options) => {
    const life = new AbortController();
    // A session that another instance opened has no server session to be coupled to.
    let front = options.opened === undefined ? undefined : createLegacyFront(deps, options);
    /** Set while the server is being looked at. */
    let deciding: Promise<void> | undefined;
    let turned = false;
    let kept = options.opened !== undefined;
    /** Handshakes that are under way. */
    let shaking = 0;
    let latest = options.sender;
    const held: Held[] = [];

    const callerOf = ({ params }: RequestMessage): Caller => {
      const read = readHandshake(params);
      return {
        ...latest,
        identity: "code" in read ? undefined : read.identity,
        capabilities: "code" in read ? "{}" : read.capabilities,
      };
    };

    const decide = async (message: RequestMessage, before?: LegacyFront): Promise<void> => {
      const caller = callerOf(message);
      // What has given a request back learns only after it what that proves.
      await Promise.resolve();
      const openLink = await deps.legacyLinks(caller, life.signal);
      before?.close();
      deciding = undefined;
      if (life.signal.aborted) return;
      const session = openLink && couplings.open({ openLink, caller, front: options, handOver });
      kept = session === undefined;
      front = session ?? createLegacyFront(deps, options);
      for (const item of held.splice(0)) item.pass(front);
    };

    /** What a server did not touch for want of this era is served in the other one. */
    const handOver = (message: RequestMessage, outlet: CallOutlet, sender: Sender): boolean => {
      if (life.signal.aborted || (turned && deciding === undefined)) return false;
      if (!turned) {
        turned = true;
        decideAgain(message);
      }
      hold(message, outlet, sender);
      return true;
    };

    const decideAgain = (message: RequestMessage): void => {
      const before = front;
      front = undefined;
      deciding = decide(message, before);
    };

    /** The server could not be found when the client tried before. */
    const isAnotherTry = (): boolean =>
      kept && shaking === 0 && front !== undefined && front.handshake === undefined;

    const counted = (outlet: CallOutlet): CallOutlet => {
      shaking += 1;
      return {
        send: outlet.send,
        answer(text, challenge) {
          shaking -= 1;
          outlet.answer(text, challenge);
        },
        abandon() {
          shaking -= 1;
          outlet.abandon();
        },
      };
    };

    const hold = (message: RequestMessage, outlet: CallOutlet, sender: Sender): void => {
      const pass = (to: LegacyFront): void => to.request(message, outlet, sender);
      held.push({ pass, outlet });
    };

    const pass = (act: (to: LegacyFront) => void): void => {
      if (front !== undefined) act(front);
      else if (deciding !== undefined && held.length < limits.maxInFlightPerPrincipal) {
        held.push({ pass: act, outlet: undefined });
      }
    };

    const serve = (message: RequestMessage, outlet: CallOutlet, sender: Sender): void => {
      if (front !== undefined) front.request(message, outlet, sender);
      else if (deciding === undefined && message.method !== "initialize") {
        answerEarly(message, outlet);
      } else if (held.length >= limits.maxInFlightPerPrincipal) {
        refuse(message, outlet, INVALID_REQUEST, "too many requests in flight");
      } else {
        deciding ??= decide(message);
        hold(message, outlet, sender);
      }
    };

    const request = (message: RequestMessage, to: CallOutlet, sender: Sender): void => {
      latest = sender;
      if (life.signal.aborted) to.abandon();
      else if (draining) refuse(message, to, INTERNAL_ERROR, "the bridge is shutting down");
      else if (message.method === "initialize") {
        if (isAnotherTry()) decideAgain(message);
        serve(message, counted(to), sender);
      } else serve(message, to, sender);
    };

    return {
      request,
      notification: (message) => pass((to) => to.notification(message)),
      response: (message) => pass((to) => to.response(message)),
      get handshake() {
        return front?.handshake;
      },
      get openCalls() {
        const waiting = held.filter(({ outlet }) => outlet !== undefined);
        return (front?.openCalls ?? 0) + waiting.length;
      },
      async drain() {
        await deciding;
        await front?.drain();
      },
      close() {
        if (life.signal.aborted) return;
        life.abort();
        for (const { outlet } of held.splice(0)) outlet?.abandon();
        front?.close();
      },
    };
  };

  return {
    open: openSession,
    get coupled() {
      return couplings.size;
    },
    drain() {
      draining = true;
    },
    close: couplings.close,
  };
}

/** Something the client sent while the server was being looked at. */
interface Held {
  readonly pass: (to: LegacyFront) => void;
  /** Where a request is to be answered. */
  readonly outlet: CallOutlet | undefined;
}

/** Before the handshake a client may ping and nothing else (2025-11-25/basic/lifecycle). */
function answerEarly(message: RequestMessage, outlet: CallOutlet): void {
  if (message.method === "ping") outlet.answer(resultText(message.id, PONG));
  else refuse(message, outlet, INVALID_REQUEST, "the session is not initialized");
}

function refuse({ id }: RequestMessage, outlet: CallOutlet, code: number, reason: string): void {
  outlet.answer(errorText(id, wireError(code, reason).text));
}
