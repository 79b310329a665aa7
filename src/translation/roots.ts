import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "roots",
  feature: "Roots",
  modernClient: {
    fate: "translated",
    how: "Asked in a call they become an input request. Asked outside of one they are answered from what the principal said before, or wait for the next call that can carry the question.",
  },
  legacyClient: {
    fate: "translated",
    how: "An input request for roots becomes `roots/list`; `notifications/roots/list_changed` ends here, since a modern server asks anew in each call.",
  },
  loss: "A legacy server is not told when roots change.",
  spec: ["2026-07-28/client/roots", "2025-11-25/client/roots"],
  about: ["roots", "roots/list", "notifications/roots/list_changed"],
};

export function coversRoots(capabilities: JsonText): boolean {
  return isObjectText(memberAt(capabilities, "roots"));
}
