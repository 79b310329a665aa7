import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "subscriptions",
  feature: "Change notifications and subscriptions",
  modernClient: {
    fate: "translated",
    how: "`subscriptions/listen` becomes `resources/subscribe`, counted per resource, and whatever the server announces on any session of the principal; the acknowledgement names what can really come. After a lost session everything is arranged anew and announced once.",
  },
  legacyClient: {
    fate: "translated",
    how: "`resources/subscribe` and the list changes become one `subscriptions/listen` per principal, overlapped when its filter changes.",
  },
  loss: "Equal changes within 100 ms are one. Without a stream for messages outside requests a legacy server can announce nothing, and nothing is promised.",
  spec: ["2026-07-28/basic/patterns/subscriptions", "2025-11-25/server/resources"],
  about: [
    "subscriptions/listen",
    "resources/subscribe",
    "resources/unsubscribe",
    "notifications/resources/updated",
    "notifications/tools/list_changed",
    "listChanged",
  ],
};

/** A longer URI is taken for a part of nothing. */
const MAX_URI = 8_192;

/** Is a resource below one of those that were subscribed to? Takes as long for many as for one. */
export function isPartOfAny(uri: string, subscribed: ReadonlySet<string>): boolean {
  if (uri.length > MAX_URI) return false;
  for (let at = uri.indexOf("/"); at !== -1; at = uri.indexOf("/", at + 1)) {
    if (subscribed.has(uri.slice(0, at)) || subscribed.has(uri.slice(0, at + 1))) return true;
  }
  return false;
}
