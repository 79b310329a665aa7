import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { isObjectText, type JsonText, toJsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Advertisement } from "../model/advertisement.js";
import { type LegacyRevision, MODERN_REVISIONS } from "../model/era.js";
import { fillCacheHints } from "./cache-hints.js";
import { stripHopExtensions } from "./extensions.js";
import { stampServerInfo } from "./identity.js";
import { stampResultType } from "./result-type.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "advertisement",
  feature: "`initialize` and `server/discover`",
  modernClient: {
    fate: "answered-here",
    how: "`server/discover` is answered from the upstream session's `initialize` result; it waits for a server that is still starting instead of failing.",
  },
  legacyClient: {
    fate: "answered-here",
    how: "`initialize` is answered from the server's discover result, with the revision the client asked for; never with a modern one.",
  },
  loss: "Capabilities that change later cannot be announced on a legacy session.",
  spec: ["2026-07-28/server/discover", "2025-11-25/basic/lifecycle"],
  about: ["initialize", "server/discover", "notifications/initialized", "instructions"],
};

export interface LiftContext {
  readonly revision: LegacyRevision;
  /** Can messages outside requests arrive? Without that no change is ever announced. */
  readonly listens: boolean;
}

function liftServerCapabilities(capabilities: Draft, { revision, listens }: LiftContext): void {
  capabilities.remove("tasks");
  stripHopExtensions(capabilities);
  const offers = (name: string): boolean => isObjectText(capabilities.get(name));
  if (!listens) {
    for (const name of ["tools", "prompts", "resources"]) {
      capabilities.object(name)?.remove("listChanged");
    }
    capabilities.object("resources")?.remove("subscribe");
  }
  // Revision 2024-11-05 has completion/complete but no capability to announce it.
  if (
    revision === "2024-11-05" &&
    !offers("completions") &&
    (offers("prompts") || offers("resources"))
  ) {
    capabilities.set("completions", "{}");
  }
}

/** An `initialize` result of a legacy server as what a modern server says of itself. */
export function liftAdvertisement(initializeResult: JsonText, context: LiftContext): Advertisement {
  const draft = createDraft(initializeResult);
  const serverInfo = draft.get("serverInfo");
  draft.remove("protocolVersion");
  draft.remove("serverInfo");
  draft.set("supportedVersions", toJsonText(MODERN_REVISIONS));
  liftServerCapabilities(draft.ensureObject("capabilities"), context);
  stampResultType(draft);
  fillCacheHints("server/discover", draft);
  stampServerInfo(draft, serverInfo);
  const result = draft.text();
  return {
    era: "legacy",
    revision: context.revision,
    result,
    capabilities: memberAt(result, "capabilities") ?? "{}",
    serverInfo,
    instructions: draft.get("instructions"),
  };
}
