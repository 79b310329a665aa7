import { describe, expect, it } from "vitest";
import {
  type CallEvent,
  type CallState,
  callAfter,
  type SessionEvent,
  type SessionState,
  sessionAfter,
} from "../../src/upstream/legacy-state.js";

describe("states", () => {
  it.each<readonly [readonly SessionEvent[], SessionState]>([
    [["established", "close", "ended"], "over"],
    [["established", "forgotten", "close", "ended"], "over"],
    [["established", "ended"], "over"],
    [["ended"], "over"],
    [["established", "forgotten"], "stale"],
  ])("a session goes through %j to %s", (events, end) => {
    let state: SessionState | undefined = "opening";
    for (const event of events) {
      expect(state).toBeDefined();
      state = state && sessionAfter(state, event);
    }
    expect(state).toBe(end);
  });

  it("a session that is over, or being closed, never comes back", () => {
    for (const event of ["established", "forgotten", "close", "ended"] as const) {
      expect(sessionAfter("over", event)).toBeUndefined();
    }
    expect(sessionAfter("closing", "established")).toBeUndefined();
    expect(sessionAfter("stale", "established")).toBeUndefined();
  });

  it.each<readonly [readonly CallEvent[], CallState]>([
    [["sent", "outcome"], "ended"],
    [["sent", "asked", "round-over", "resumed", "asked", "round-over"], "parked"],
    [["sent", "asked", "withdrawn", "outcome"], "ended"],
    [["sent", "asked", "round-over", "outcome", "resumed"], "ended"],
    [["asked", "round-over", "resumed", "refused", "sent"], "running"],
    [["sent", "refused", "sent", "ended"], "ended"],
  ])("a call goes through %j to %s", (events, end) => {
    let state: CallState | undefined = "waiting";
    for (const event of events) {
      expect(state).toBeDefined();
      state = state && callAfter(state, event);
    }
    expect(state).toBe(end);
  });

  it("a parked call is not sent again, and an ended one does nothing", () => {
    expect(callAfter("parked", "sent")).toBeUndefined();
    expect(callAfter("parked", "refused")).toBeUndefined();
    for (const event of ["sent", "asked", "resumed", "outcome", "ended"] as const) {
      expect(callAfter("ended", event)).toBeUndefined();
    }
  });
});
