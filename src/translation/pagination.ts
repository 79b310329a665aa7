import { asString, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "pagination",
  feature: "Cursors of lists",
  modernClient: {
    fate: "same",
    how: "Cursors pass as they are, the empty one included. All lists of a caller go to the same upstream session, so that cursors stay valid.",
  },
  legacyClient: {
    fate: "same",
    how: "Cursors pass as they are.",
  },
  loss: "A cursor ends with the upstream session that gave it, as it does without a bridge.",
  spec: ["2026-07-28/server/utilities/pagination", "2025-11-25/server/utilities/pagination"],
  about: ["cursor", "nextCursor", "pagination"],
};

/** One page of a list for the bridge's own use; undefined when the server gives none. */
export type ListPage = (params: JsonText) => Promise<JsonText | undefined>;

/** The text of the cursor behind which the list goes on; an empty string is one. */
export function nextCursor(result: JsonText): JsonText | undefined {
  const cursor = memberAt(result, "nextCursor");
  return asString(cursor) === undefined ? undefined : cursor;
}

/**
 * Reads a list to its end, page by page; stops where a server repeats a cursor or after `maxPages`.
 * True when the end was seen, false when a page did not come. Rejects as `list` does.
 */
export async function readPages(
  list: ListPage,
  maxPages: number,
  take: (result: JsonText) => void,
): Promise<boolean> {
  const seen = new Set<JsonText>();
  let params = "{}";
  for (let page = 0; page < maxPages; page++) {
    const result = await list(params);
    if (result === undefined) return false;
    take(result);
    const cursor = nextCursor(result);
    if (cursor === undefined || seen.has(cursor)) return true;
    seen.add(cursor);
    params = `{"cursor":${cursor}}`;
  }
  return true;
}
