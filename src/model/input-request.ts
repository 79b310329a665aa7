import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";

/** The three things a server may ask a client for (2026-07-28/basic/patterns/mrtr). */
export type InputMethod = "elicitation/create" | "sampling/createMessage" | "roots/list";

export const INPUT_METHODS: readonly InputMethod[] = [
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
];

export function isInputMethod(method: string): method is InputMethod {
  return INPUT_METHODS.some((known) => known === method);
}

/** The client requests that may be answered with `input_required`. */
const INPUT_CAPABLE: readonly string[] = ["tools/call", "prompts/get", "resources/read"];

export function mayRequireInput(method: string): boolean {
  return INPUT_CAPABLE.includes(method);
}

/** One entry of `inputRequests`. */
export interface InputRequest {
  readonly key: string;
  readonly method: string;
  readonly params: JsonText | undefined;
}

/** Reads an `inputRequests` object. Entries that are no object come out with an empty method. */
export function readInputRequests(text: JsonText): readonly InputRequest[] {
  const object = readObject(text);
  if (object === undefined) return [];
  return object.members.map((member) => {
    const entry = readObject(object.text.slice(member.start, member.end));
    return {
      key: member.key,
      method: asString(memberOf(entry, "method")) ?? "",
      params: memberOf(entry, "params"),
    };
  });
}

export function inputRequestsText(requests: readonly InputRequest[]): JsonText {
  const entries = requests.map(({ key, method, params }) => {
    const paramsPart = params === undefined ? "" : `,"params":${params}`;
    return `${quote(key)}:{"method":${quote(method)}${paramsPart}}`;
  });
  return `{${entries.join(",")}}`;
}

/** Reads an `inputResponses` object: key to the text of the answer. */
export function readInputResponses(text: JsonText | undefined): ReadonlyMap<string, JsonText> {
  const object = readObject(text);
  const answers = new Map<string, JsonText>();
  for (const member of object?.members ?? []) {
    answers.set(member.key, text?.slice(member.start, member.end) ?? "");
  }
  return answers;
}
