import type { CallOutlet } from "../front/call-outlet.js";
import type { LegacyFrontDeps } from "../front/legacy-deps.js";
import { createLegacyFront } from "../front/legacy-front.js";
import { readHandshake } from "../front/legacy-handshake.js";
import type { LegacyFront, LegacyFrontOptions, OpenLegacyFront } from "../front/legacy-session.js";
import type { Sender } from "../front/modern-request.js";
import { INVALID_REQUEST } from "../jsonrpc/error-codes.js";
import { errorText, type RequestMessage, resultText } from "../jsonrpc/message.js";
import { wireError } from "../model/wire-error.js";
import { PONG } from "../translation/liveness.js";
import type { OpenLink } from "../upstream/era-source.js";
import { createCoupledSession } from "./coupled-session.js";
import { createRenewedLink } from "./renewed-link.js";

export interface LegacySessionsDeps extends LegacyFrontDeps {
  /** How to open conversations with a legacy server; undefined for one without sessions. */
  readonly legacyLinks: () => Promise<OpenLink | undefined>;
}

/**
 * Opens the session of a legacy client: coupled to a session of its own where the server is legacy as
 * well, so that nothing is lost between the two, else kept by the bridge. Which of them is known once the
 * server has been looked at; what the client sends until then waits.
 */
export function createLegacySessions(deps: LegacySessionsDeps): OpenLegacyFront {
  return (options) =>
    // A session that another instance opened has no server session to be coupled to.
    options.opened === undefined ? openUndecided(deps, options) : createLegacyFront(deps, options);
}

function openUndecided(deps: LegacySessionsDeps, options: LegacyFrontOptions): LegacyFront {
  let front: LegacyFront | undefined;
  let deciding = false;
  let closed = false;
  let held: ((front: LegacyFront) => void)[] = [];

  const couple = (openLink: OpenLink, message: RequestMessage, sender: Sender): LegacyFront => {
    const life = new AbortController();
    const read = readHandshake(message.params);
    const caller = {
      ...sender,
      identity: "code" in read ? undefined : read.identity,
      capabilities: "code" in read ? "{}" : read.capabilities,
    };
    const link = createRenewedLink({ ...deps, openLink: () => openLink(caller, life.signal) });
    const session = createCoupledSession({ ...deps, link }, options);
    return {
      ...session,
      get handshake() {
        return session.handshake;
      },
      get openCalls() {
        return session.openCalls;
      },
      close() {
        session.close();
        life.abort();
      },
    };
  };

  const decide = async (message: RequestMessage, sender: Sender): Promise<void> => {
    const openLink = await deps.legacyLinks();
    if (closed) return;
    const chosen =
      openLink === undefined ? createLegacyFront(deps, options) : couple(openLink, message, sender);
    front = chosen;
    const waiting = held;
    held = [];
    for (const pass of waiting) pass(chosen);
  };

  const pass = (act: (front: LegacyFront) => void): void => {
    if (front !== undefined) act(front);
    else if (deciding && !closed) held.push(act);
  };

  return {
    request(message, outlet, sender) {
      if (front === undefined && !deciding && message.method === "initialize") {
        deciding = true;
        void decide(message, sender);
      }
      if (front !== undefined || deciding) {
        pass((to) => to.request(message, outlet, sender));
      } else answerEarly(message, outlet);
    },
    notification: (message) => pass((to) => to.notification(message)),
    response: (message) => pass((to) => to.response(message)),
    get handshake() {
      return front?.handshake;
    },
    get openCalls() {
      return front?.openCalls ?? held.length;
    },
    drain: () => front?.drain() ?? Promise.resolve(),
    close() {
      closed = true;
      held = [];
      front?.close();
    },
  };
}

/** Before the handshake a client may ping and nothing else (2025-11-25/basic/lifecycle). */
function answerEarly({ id, method }: RequestMessage, outlet: CallOutlet): void {
  const refusal = wireError(INVALID_REQUEST, "the session is not initialized");
  outlet.answer(method === "ping" ? resultText(id, PONG) : errorText(id, refusal.text));
}
