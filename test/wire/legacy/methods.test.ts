import { expect, test } from "vitest";
import { isLegacyMethod } from "../../../src/wire/legacy/methods.js";

test.each([
  ["client-request", "initialize"],
  ["client-request", "resources/subscribe"],
  ["client-request", "tasks/result"],
  ["server-request", "roots/list"],
  ["server-notification", "notifications/elicitation/complete"],
  ["client-notification", "notifications/roots/list_changed"],
] as const)("the newest legacy revision knows %s %s", (direction, method) => {
  expect(isLegacyMethod(direction, method)).toBe(true);
});

test.each([
  ["client-request", "server/discover"],
  ["client-request", "subscriptions/listen"],
  ["client-request", "tasks/update"],
  ["server-notification", "notifications/subscriptions/acknowledged"],
  ["client-request", "roots/list"],
  ["server-request", "tools/call"],
  ["client-request", "toString"],
] as const)("no legacy revision knows %s %s", (direction, method) => {
  expect(isLegacyMethod(direction, method)).toBe(false);
});

test.each([
  ["elicitation/create", "2025-03-26", false],
  ["elicitation/create", "2025-06-18", true],
  ["sampling/createMessage", "2024-11-05", true],
  ["tasks/get", "2025-06-18", false],
  ["tasks/get", "2025-11-25", true],
] as const)("a server may send %s at %s: %s", (method, revision, known) => {
  expect(isLegacyMethod("server-request", method, revision)).toBe(known);
});
