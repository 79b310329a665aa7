import { LISTS, type ListName } from "./catalogue.js";
import type { Reply } from "./client.js";
import { isObject, type Json, type JsonObject, sorted } from "./json.js";

/** What two runs of one call share even when the texts differ: kinds and names of members. */
export function shapeOf(reply: Reply): JsonObject {
  if ("error" in reply) return { error: reply.error["code"] ?? null };
  if ("nothing" in reply) return { nothing: reply.nothing };
  const { content, structuredContent, isError } = reply.result;
  return {
    keys: sorted(Object.keys(reply.result)),
    isError: isError === true,
    ...(Array.isArray(content)
      ? { content: content.map((block) => (isObject(block) && block["type"]) || typeof block) }
      : {}),
    ...(isObject(structuredContent)
      ? { structuredKeys: sorted(Object.keys(structuredContent)) }
      : {}),
  };
}

/** The names (or addresses) of a list's items, sorted. */
export function keysOf(list: ListName, items: readonly Json[]): readonly Json[] {
  return items.map((item) => (isObject(item) ? (item[LISTS[list].key] ?? null) : null)).sort();
}
