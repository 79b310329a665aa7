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

/** Is a resource below the one that was subscribed to? */
export function isPartOf(uri: string, subscribed: string): boolean {
  return uri.startsWith(subscribed.endsWith("/") ? subscribed : `${subscribed}/`);
}
