/** Where a legacy session stands, seen from the server's side (2025-11-25/basic/lifecycle). */
export type LegacyState = "new" | "opening" | "opened" | "ready" | "closed";

export type LegacyEvent =
  | "initialize"
  /** The handshake got an answer that opens the session, or one that does not. */
  | "accepted"
  | "rejected"
  /** Any other request. */
  | "request"
  | "initialized"
  | "close";

/** What the session does about it. */
export type Reaction =
  | "handshake"
  | "serve"
  /** Wait for the handshake under way. */
  | "hold"
  | "refuse-uninitialized"
  | "refuse-second-handshake"
  | "none";

interface Transition {
  readonly to: LegacyState;
  readonly reaction: Reaction;
}

const stay = (to: LegacyState, reaction: Reaction): Transition => ({ to, reaction });

/**
 * The whole automaton. A first request counts as `initialized`, for some clients never send it. The
 * session that failed to open may be opened once more.
 */
export const TRANSITIONS: Readonly<Record<LegacyState, Readonly<Record<LegacyEvent, Transition>>>> =
  {
    new: {
      initialize: { to: "opening", reaction: "handshake" },
      accepted: stay("new", "none"),
      rejected: stay("new", "none"),
      request: stay("new", "refuse-uninitialized"),
      initialized: stay("new", "none"),
      close: { to: "closed", reaction: "none" },
    },
    opening: {
      initialize: stay("opening", "refuse-second-handshake"),
      accepted: { to: "opened", reaction: "serve" },
      rejected: { to: "new", reaction: "refuse-uninitialized" },
      request: stay("opening", "hold"),
      initialized: stay("opening", "hold"),
      close: { to: "closed", reaction: "none" },
    },
    opened: {
      initialize: stay("opened", "refuse-second-handshake"),
      accepted: stay("opened", "none"),
      rejected: stay("opened", "none"),
      request: { to: "ready", reaction: "serve" },
      initialized: { to: "ready", reaction: "none" },
      close: { to: "closed", reaction: "none" },
    },
    ready: {
      initialize: stay("ready", "refuse-second-handshake"),
      accepted: stay("ready", "none"),
      rejected: stay("ready", "none"),
      request: stay("ready", "serve"),
      initialized: stay("ready", "none"),
      close: { to: "closed", reaction: "none" },
    },
    closed: {
      initialize: stay("closed", "none"),
      accepted: stay("closed", "none"),
      rejected: stay("closed", "none"),
      request: stay("closed", "none"),
      initialized: stay("closed", "none"),
      close: stay("closed", "none"),
    },
  };

export interface LegacyAutomaton {
  readonly state: LegacyState;
  on(event: LegacyEvent): Reaction;
}

/** `ready` is where a session starts that was opened elsewhere. */
export function createLegacyAutomaton(start: "new" | "ready"): LegacyAutomaton {
  let state: LegacyState = start;
  return {
    get state() {
      return state;
    },
    on(event) {
      const { to, reaction } = TRANSITIONS[state][event];
      state = to;
      return reaction;
    },
  };
}
