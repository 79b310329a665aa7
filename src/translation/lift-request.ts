import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { isAtLeast, type LegacyRevision } from "../model/era.js";
import { mayRequireInput } from "../model/input-request.js";
import { META_RELATED_TASK } from "../model/meta-keys.js";
import { dropEmptyMeta } from "./envelope.js";
import { stripHopExtensions } from "./extensions.js";

/**
 * What a legacy client declared in `initialize`, as a modern client declares it on each request: only
 * what a client of the negotiated revision can be asked for.
 */
export function liftClientCapabilities(capabilities: JsonText, revision: LegacyRevision): JsonText {
  const draft = createDraft(capabilities);
  draft.object("roots")?.remove("listChanged");
  draft.remove("tasks");
  stripHopExtensions(draft);
  if (!isAtLeast(revision, "2025-11-25")) narrow(draft, revision);
  return draft.text();
}

function narrow(capabilities: Draft, revision: LegacyRevision): void {
  if (isObjectText(capabilities.get("sampling"))) capabilities.set("sampling", "{}");
  if (!isAtLeast(revision, "2025-06-18")) capabilities.remove("elicitation");
  else if (isObjectText(capabilities.get("elicitation"))) {
    capabilities.set("elicitation", '{"form":{}}');
  }
}

/**
 * A legacy request's params in the modern vocabulary. What either era means by names that the client
 * cannot mean is taken out: a task it may not ask for, answers to a round it does not know of.
 */
export function liftRequest(method: string, params: JsonText | undefined): JsonText {
  const draft = createDraft(params);
  if (mayRequireInput(method)) {
    draft.remove("inputResponses");
    draft.remove("requestState");
  }
  if (method === "tools/call") draft.remove("task");
  draft.object("_meta")?.remove(META_RELATED_TASK);
  dropEmptyMeta(draft);
  return draft.text();
}

/** A client's answer to a reverse request as an input response: the bare result. */
export function liftInputResponse(result: JsonText): JsonText {
  const draft = createDraft(result);
  draft.remove("_meta");
  return draft.text();
}
