/**
 * Where an upstream session stands.
 *
 * - `opening`: `initialize` is under way.
 * - `ready`: takes new requests.
 * - `stale`: the server no longer knows it; requests in flight may finish, nothing new starts.
 * - `closing`: being ended by the bridge.
 * - `over`: the conversation has ended, whoever ended it.
 */
export type SessionState = "opening" | "ready" | "stale" | "closing" | "over";
export type SessionEvent = "established" | "forgotten" | "close" | "ended";

const SESSION: Record<SessionState, Partial<Record<SessionEvent, SessionState>>> = {
  opening: { established: "ready", close: "closing", ended: "over" },
  ready: { forgotten: "stale", close: "closing", ended: "over" },
  stale: { close: "closing", ended: "over" },
  closing: { ended: "over" },
  over: {},
};

/** The state after an event; undefined where the event means nothing. */
export function sessionAfter(state: SessionState, event: SessionEvent): SessionState | undefined {
  return SESSION[state][event];
}

/**
 * Where a client's call stands at a legacy server.
 *
 * - `waiting`: not yet sent, for a session, for its turn, or for roots the server wants first.
 * - `running`: a round of the client waits for the server.
 * - `gathering`: the server asked something; the round ends as soon as no further question follows.
 * - `parked`: the client has the questions and will be back; the call stays open at the server.
 * - `kept`: the server finished while the call was parked; the outcome waits for the client.
 * - `ended`: settled, expired, cancelled or lost.
 */
export type CallState = "waiting" | "running" | "gathering" | "parked" | "kept" | "ended";
export type CallEvent =
  | "sent"
  | "asked"
  | "withdrawn"
  | "round-over"
  | "resumed"
  | "refused"
  | "outcome"
  | "ended";

const CALL: Record<CallState, Partial<Record<CallEvent, CallState>>> = {
  waiting: { sent: "running", asked: "gathering", outcome: "ended", ended: "ended" },
  running: { asked: "gathering", refused: "waiting", outcome: "ended", ended: "ended" },
  gathering: {
    "round-over": "parked",
    withdrawn: "running",
    refused: "waiting",
    outcome: "ended",
    ended: "ended",
  },
  parked: { resumed: "running", outcome: "kept", ended: "ended" },
  kept: { resumed: "ended", ended: "ended" },
  ended: {},
};

/** The state after an event; undefined where the event means nothing. */
export function callAfter(state: CallState, event: CallEvent): CallState | undefined {
  return CALL[state][event];
}
