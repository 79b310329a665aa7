import type { ListName } from "./catalogue.js";
import { isObject, type Json, type JsonObject } from "./json.js";

export interface FurtherRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** Of each kind; more of them show nothing new. */
const MOST = 4;

function isFree(prompt: JsonObject): boolean {
  const { arguments: declared } = prompt;
  return !(
    Array.isArray(declared) &&
    declared.some((one: Json) => isObject(one) && one["required"] === true)
  );
}

/**
 * What can be asked of a server safely that no record holds: some of its resources, the prompts that
 * need no arguments, one of each that it does not have, and a method that no revision has.
 */
export function furtherRequests(
  lists: Readonly<Partial<Record<ListName, { readonly items: readonly Json[] }>>>,
): readonly FurtherRequest[] {
  const requests: FurtherRequest[] = [];
  const read = (uri: Json) => requests.push({ method: "resources/read", params: { uri } });
  const prompt = (name: Json) => requests.push({ method: "prompts/get", params: { name } });
  if (lists.resources !== undefined) {
    for (const { uri } of lists.resources.items.filter(isObject).slice(0, MOST))
      if (uri !== undefined) read(uri);
    read("erabridge://no-such-resource");
  }
  if (lists.prompts !== undefined) {
    for (const { name } of lists.prompts.items.filter(isObject).filter(isFree).slice(0, MOST))
      if (name !== undefined) prompt(name);
    prompt("erabridge_no_such_prompt");
  }
  return [...requests, { method: "erabridge/no-such-method", params: { a: 1 } }];
}
