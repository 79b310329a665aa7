import { asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "elicitation",
  feature: "Elicitation, form and URL mode",
  modernClient: {
    fate: "translated",
    how: "Carried in both modes; `elicitationId` stays in the bridge. Error -32042 of a legacy server becomes a URL elicitation, and the refused call is sent once more after the user accepts.",
  },
  legacyClient: {
    fate: "translated",
    how: "Carried to clients that declared the mode; `elicitationId` is synthesized for URL mode and completion notified when the call ends.",
  },
  loss: "A modern client is not told when a URL interaction completes; multi-select lists cannot be shown by 2025-06-18 clients.",
  spec: ["2026-07-28/client/elicitation", "2025-11-25/client/elicitation"],
  about: ["elicitation", "elicitation/create", "notifications/elicitation/complete", "-32042"],
};

type Mode = "form" | "url";

function modeOf(params: JsonText | undefined): Mode {
  return asString(memberAt(params, "mode")) === "url" ? "url" : "form";
}

/** Did the client declare the mode? An empty declaration means form only. */
export function coversElicitation(capabilities: JsonText, params: JsonText | undefined): boolean {
  const declared = memberAt(capabilities, "elicitation");
  if (!isObjectText(declared)) return false;
  const modes = readObject(declared);
  if (isObjectText(memberOf(modes, modeOf(params)))) return true;
  return modeOf(params) === "form" && !isObjectText(memberOf(modes, "url"));
}

/** The capability a client lacks for such a question. */
export function elicitationCapability(params: JsonText | undefined): JsonText {
  return `{"elicitation":{"${modeOf(params)}":{}}}`;
}
