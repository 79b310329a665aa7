import { describe, expect, test } from "vitest";
import { createLegacyAutomaton, TRANSITIONS } from "../../src/front/legacy-state.js";

test("a session is opened once, becomes ready with the first sign of the client, and ends", () => {
  const automaton = createLegacyAutomaton("new");
  expect(automaton.on("request")).toBe("refuse-uninitialized");
  expect(automaton.on("initialize")).toBe("handshake");
  expect(automaton.on("request")).toBe("hold");
  expect(automaton.on("initialize")).toBe("refuse-second-handshake");
  automaton.on("accepted");
  expect(automaton.state).toBe("opened");
  expect(automaton.on("request")).toBe("serve");
  expect(automaton.state).toBe("ready");
  automaton.on("close");
  expect(automaton.on("request")).toBe("none");
});

test("a handshake that failed may be tried again", () => {
  const automaton = createLegacyAutomaton("new");
  automaton.on("initialize");
  automaton.on("rejected");
  expect(automaton.on("initialize")).toBe("handshake");
});

test("a session that was opened elsewhere is ready", () => {
  const automaton = createLegacyAutomaton("ready");
  expect(automaton.on("request")).toBe("serve");
  expect(automaton.on("initialize")).toBe("refuse-second-handshake");
});

describe.each(Object.entries(TRANSITIONS))("in the state %s", (state, events) => {
  test("the end of the session is reached by close and by nothing else", () => {
    for (const [event, { to }] of Object.entries(events)) {
      if (state !== "closed") expect(to === "closed").toBe(event === "close");
    }
  });
});
