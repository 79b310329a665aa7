import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { type JsonText, quote, toJsonText } from "../jsonrpc/json-text.js";
import type { Advertisement } from "../model/advertisement.js";
import { isAtLeast, type LegacyRevision } from "../model/era.js";
import { stripHopExtensions } from "./extensions.js";
import { stripResultMarks } from "./lower-result.js";

/** Kinds of lists whose changes a client can be told of. */
export type ListKind = "tools" | "prompts" | "resources";
export const LIST_KINDS: readonly ListKind[] = ["tools", "prompts", "resources"];

export interface LowerAdvertisementContext {
  readonly revision: LegacyRevision;
  /** For a server that keeps its identity to itself: `serverInfo` is required in `initialize`. */
  readonly upstreamName: string;
  /** Lists whose changes the server advertises but will not tell. */
  readonly unheard: readonly ListKind[];
}

/** What a modern server says of itself as the result of `initialize`. */
export function lowerAdvertisement(
  advertisement: Advertisement,
  { revision, upstreamName, unheard }: LowerAdvertisementContext,
): JsonText {
  const draft = createDraft(advertisement.result);
  stripResultMarks("server/discover", draft);
  draft.remove("supportedVersions");
  draft.set("protocolVersion", quote(revision));
  const capabilities = draft.ensureObject("capabilities");
  lowerServerCapabilities(capabilities, revision);
  for (const kind of unheard) capabilities.object(kind)?.remove("listChanged");
  const unknown = toJsonText({ name: upstreamName, version: "unknown" });
  draft.set("serverInfo", advertisement.serverInfo ?? unknown);
  return draft.text();
}

function lowerServerCapabilities(capabilities: Draft, revision: LegacyRevision): void {
  stripHopExtensions(capabilities);
  if (isAtLeast(revision, "2025-03-26")) return;
  // Clients of the first revision were written against a closed list of capabilities.
  capabilities.remove("completions");
  capabilities.remove("extensions");
}
