import { createDraft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { type BridgeNotice, stampNotices } from "./bridge-notices.js";
import { fillCacheHints } from "./cache-hints.js";
import { stampServerInfo } from "./identity.js";
import { stampResultType } from "./result-type.js";
import { ensureContent, liftTools } from "./tool-schemas.js";

export interface LiftResultContext {
  /** The server's own identity, from its handshake. */
  readonly serverInfo: JsonText | undefined;
  readonly notices?: readonly BridgeNotice[];
}

/**
 * A legacy server's result in the modern vocabulary. `result` is the text of an object; members that
 * no rule names come out as the same characters.
 */
export function liftResult(method: string, result: JsonText, context: LiftResultContext): JsonText {
  const draft = createDraft(result);
  ensureContent(method, draft);
  liftTools(method, draft);
  stampResultType(draft);
  fillCacheHints(method, draft);
  stampServerInfo(draft, context.serverInfo);
  if (context.notices !== undefined) stampNotices(draft, context.notices);
  return draft.text();
}
