import { asString, isArrayText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import {
  type Interest,
  type Notice,
  PROMPTS_CHANGED,
  RESOURCE_UPDATED,
  RESOURCES_CHANGED,
  TOOLS_CHANGED,
} from "../model/notice.js";
import { isPartOfAny } from "../translation/subscriptions.js";
import { type Honoured, honouredText, uriOf } from "./watched-changes.js";

/** The members of a filter that can be joined and split; others belong to whoever sent them. */
const KNOWN: readonly string[] = [
  "toolsListChanged",
  "promptsListChanged",
  "resourcesListChanged",
  "resourceSubscriptions",
];

const LISTS: readonly string[] = [TOOLS_CHANGED, PROMPTS_CHANGED, RESOURCES_CHANGED];

/** Does the filter ask for anything that only its sender understands? */
export function isForeign({ text }: Interest): boolean {
  return readObject(text)?.members.some(({ key }) => !KNOWN.includes(key)) === true;
}

/** What an interest asks for, in the shape of what a server agrees to. */
export function wanted(interest: Interest): Honoured {
  const lists = new Set<string>();
  if (interest.toolsListChanged) lists.add(TOOLS_CHANGED);
  if (interest.promptsListChanged) lists.add(PROMPTS_CHANGED);
  if (interest.resourcesListChanged) lists.add(RESOURCES_CHANGED);
  return { lists, uris: new Set(interest.resourceSubscriptions) };
}

export function union(parts: readonly Honoured[]): Honoured {
  const lists = new Set<string>();
  const uris = new Set<string>();
  for (const part of parts) {
    for (const list of part.lists) lists.add(list);
    for (const uri of part.uris) uris.add(uri);
  }
  return { lists, uris };
}

export function intersection(left: Honoured, right: Honoured): Honoured {
  return {
    lists: new Set([...left.lists].filter((list) => right.lists.has(list))),
    uris: new Set([...left.uris].filter((uri) => right.uris.has(uri))),
  };
}

export function contains(whole: Honoured, part: Honoured): boolean {
  return (
    [...part.lists].every((list) => whole.lists.has(list)) &&
    [...part.uris].every((uri) => whole.uris.has(uri))
  );
}

/** The filter that asks for exactly this. */
export function filterText(filter: Honoured): JsonText {
  return honouredText(filter);
}

/** What an acknowledgement's `notifications` object agrees to. */
export function readHonoured(notifications: JsonText | undefined): Honoured {
  const object = readObject(notifications);
  const lists = new Set<string>();
  if (memberOf(object, "toolsListChanged") === "true") lists.add(TOOLS_CHANGED);
  if (memberOf(object, "promptsListChanged") === "true") lists.add(PROMPTS_CHANGED);
  if (memberOf(object, "resourcesListChanged") === "true") lists.add(RESOURCES_CHANGED);
  const uris = memberOf(object, "resourceSubscriptions");
  const named = isArrayText(uris) ? elementsOf(uris).flatMap((uri) => asString(uri) ?? []) : [];
  return { lists, uris: new Set(named) };
}

/**
 * Who of those that share a subscription gets a change. An updated resource may be a part of what was
 * subscribed (2026-07-28/schema, `ResourceUpdatedNotificationParams`): where nobody named it, those get
 * it who named something it is in, else everyone who named any resource.
 */
export function receiversOf<T extends { readonly filter: Honoured }>(
  { method, params }: Notice,
  members: readonly T[],
): readonly T[] {
  if (method !== RESOURCE_UPDATED) {
    const asked = members.filter(({ filter }) => filter.lists.has(method));
    // What nobody here knows goes to whoever is left to understand it.
    return asked.length > 0 || LISTS.includes(method) ? asked : members.slice(0, 1);
  }
  const uri = uriOf(params);
  const exact = members.filter(({ filter }) => filter.uris.has(uri));
  if (exact.length > 0) return exact;
  const whole = members.filter(({ filter }) => isPartOfAny(uri, filter.uris));
  return whole.length > 0 ? whole : members.filter(({ filter }) => filter.uris.size > 0);
}

/** The `notifications` object of an acknowledgement's params. */
export function acknowledged(params: JsonText | undefined): JsonText {
  return memberAt(params, "notifications") ?? "{}";
}
