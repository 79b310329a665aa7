import { expect, test } from "vitest";
import { isLogWanted } from "../../src/translation/log-level.js";

test.each([
  ["debug", "debug", true],
  ["info", "warning", false],
  ["error", "warning", true],
  ["emergency", "alert", true],
  ["notice", "info", true],
] as const)("a message of level %s passes the threshold %s: %s", (level, threshold, passes) => {
  expect(isLogWanted(`{"level":"${level}","data":1}`, threshold)).toBe(passes);
});

test("who asked for no level gets no message, and a message without a level goes to nobody", () => {
  expect(isLogWanted('{"level":"emergency"}', undefined)).toBe(false);
  expect(isLogWanted('{"level":"loud"}', "debug")).toBe(false);
  expect(isLogWanted(undefined, "debug")).toBe(false);
});
