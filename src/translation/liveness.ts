import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "liveness",
  feature: "Ping",
  modernClient: {
    fate: "refused",
    how: "`ping` is no modern method (-32601); pings of the legacy server are answered by the bridge at once.",
  },
  legacyClient: {
    fate: "answered-here",
    how: "`ping` is answered by the bridge at once.",
  },
  loss: "A ping proves that the bridge lives, not the server behind it.",
  spec: ["2025-11-25/basic/utilities/ping"],
  about: ["ping"],
};

/** The only answer there is. */
export const PONG = "{}";
