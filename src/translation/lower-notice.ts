import { createDraft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { META_SUBSCRIPTION_ID } from "../model/meta-keys.js";
import { dropEmptyMeta } from "./envelope.js";

/** A modern notification's params for a legacy client, which knows no subscription ids. */
export function lowerNotice(params: JsonText | undefined): JsonText | undefined {
  if (!params?.includes("_meta")) return params;
  const draft = createDraft(params);
  draft.object("_meta")?.remove(META_SUBSCRIPTION_ID);
  dropEmptyMeta(draft);
  return draft.text();
}
