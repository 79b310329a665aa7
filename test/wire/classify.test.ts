import { expect, test } from "vitest";
import { parseMessage } from "../../src/jsonrpc/message.js";
import {
  clientNotificationMembership,
  eraOf,
  requestMembership,
  serverNotificationMembership,
} from "../../src/wire/classify.js";

test.each([
  ["server/discover", "modern"],
  ["subscriptions/listen", "modern"],
  ["tools/list", "modern"],
  ["tools/call", "modern"],
  ["prompts/list", "modern"],
  ["prompts/get", "modern"],
  ["resources/list", "modern"],
  ["resources/templates/list", "modern"],
  ["resources/read", "modern"],
  ["completion/complete", "modern"],
  ["tasks/get", "modern"],
  ["tasks/update", "modern"],
  ["tasks/cancel", "modern"],
  ["initialize", "legacy-only"],
  ["ping", "legacy-only"],
  ["logging/setLevel", "legacy-only"],
  ["resources/subscribe", "legacy-only"],
  ["resources/unsubscribe", "legacy-only"],
  ["tasks/list", "legacy-only"],
  ["tasks/result", "legacy-only"],
  ["sampling/createMessage", "legacy-only"],
  ["elicitation/create", "legacy-only"],
  ["roots/list", "legacy-only"],
  ["acme/frobnicate", "unknown"],
  ["constructor", "unknown"],
  ["__proto__", "unknown"],
  ["", "unknown"],
])("the request %s is %s to a modern server", (method, membership) => {
  expect(requestMembership(method)).toBe(membership);
});

test.each([
  ["notifications/cancelled", "modern", "modern"],
  ["notifications/progress", "legacy-only", "modern"],
  ["notifications/message", "legacy-only", "modern"],
  ["notifications/tools/list_changed", "legacy-only", "modern"],
  ["notifications/initialized", "legacy-only", "legacy-only"],
  ["notifications/roots/list_changed", "legacy-only", "legacy-only"],
  ["notifications/elicitation/complete", "legacy-only", "legacy-only"],
  ["notifications/tasks/status", "legacy-only", "legacy-only"],
  ["notifications/tasks", "unknown", "modern"],
  ["acme/happened", "unknown", "unknown"],
])("the notification %s is %s from a client and %s from a server", (method, client, server) => {
  expect(clientNotificationMembership(method)).toBe(client);
  expect(serverNotificationMembership(method)).toBe(server);
});

const request = (method: string) => parseMessage(`{"jsonrpc":"2.0","id":1,"method":"${method}"}`);
const LEGACY_HEADER = { revision: "2025-11-25", hasSession: false };
const MODERN_HEADER = { revision: "2026-07-28", hasSession: false };
const NO_HEADER = { revision: undefined, hasSession: false };
const SESSION = { revision: "2026-07-28", hasSession: true };

test.each([
  ["an envelope with a modern header", request("tools/list"), true, MODERN_HEADER, "modern"],
  ["an envelope with a legacy header", request("tools/list"), true, LEGACY_HEADER, "modern"],
  ["an envelope with a session", request("tools/list"), true, SESSION, "modern"],
  ["initialize with an envelope", request("initialize"), true, NO_HEADER, "modern"],
  ["initialize", request("initialize"), false, NO_HEADER, "legacy"],
  ["initialize with a modern header", request("initialize"), false, MODERN_HEADER, "legacy"],
  ["a session whose client sends its own newest version", request("x"), false, SESSION, "legacy"],
  ["a modern header without an envelope", request("tools/list"), false, MODERN_HEADER, "modern"],
  [
    "an unknown later revision",
    request("x"),
    false,
    { ...NO_HEADER, revision: "2099-01-01" },
    "modern",
  ],
  ["a legacy header", request("tools/list"), false, LEGACY_HEADER, "legacy"],
  ["no header at all", request("tools/list"), false, NO_HEADER, "legacy"],
  ["a bare probe", request("server/discover"), false, NO_HEADER, "modern"],
  ["a bare probe on a session", request("server/discover"), false, SESSION, "legacy"],
] as const)("%s belongs to its era", (_name, message, claims, hints, era) => {
  expect(eraOf(message, claims, hints)).toBe(era);
});
