import { expect, test } from "vitest";
import { isPartOfAny } from "../../src/translation/subscriptions.js";

test.each([
  ["file:///a/b", "file:///a", true],
  ["file:///a/b", "file:///a/", true],
  ["file:///ab", "file:///a", false],
  ["file:///a", "file:///a/b", false],
])("%s is below %s: %s", (uri, subscribed, expected) => {
  expect(isPartOfAny(uri, new Set(["file:///z", subscribed]))).toBe(expected);
});

test("a URI without end is below nothing", () => {
  expect(isPartOfAny(`file:///a/${"b/".repeat(1_000_000)}`, new Set(["file:///a"]))).toBe(false);
});
