import { expect, test } from "vitest";
import { isPartOf } from "../../src/translation/subscriptions.js";

test.each([
  ["file:///a/b", "file:///a", true],
  ["file:///a/b", "file:///a/", true],
  ["file:///ab", "file:///a", false],
  ["file:///a", "file:///a/b", false],
])("%s is below %s: %s", (uri, subscribed, expected) => {
  expect(isPartOf(uri, subscribed)).toBe(expected);
});
