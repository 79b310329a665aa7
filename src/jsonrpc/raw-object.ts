import type { JsonText } from "./json-text.js";
import { assertJson, JsonSyntaxError, scanObject, skipSpace } from "./scan.js";
import { skipString, skipValue } from "./skip.js";

/** Where one member of an object stands in its text. */
export interface RawMember {
  readonly key: string;
  /** Index of the opening quote of the key. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

/** An object read as spans: which members stand where. The values stay text. */
export interface RawObject {
  readonly text: JsonText;
  readonly members: readonly RawMember[];
}

function decodeKey(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/**
 * Reads untrusted text. Checks that all of it is one JSON value and returns the spans of its
 * members, or undefined when the value is no object. Throws JsonSyntaxError.
 */
export function parseObject(text: string): RawObject | undefined {
  const at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== 0x7b) {
    assertJson(text);
    return undefined;
  }
  const members: RawMember[] = [];
  const end = scanObject(text, at, 1, (keyStart, keyEnd, start, valueEnd) => {
    members.push({ key: decodeKey(text, keyStart, keyEnd), keyStart, start, end: valueEnd });
  });
  const rest = skipSpace(text, end);
  if (rest !== text.length) throw new JsonSyntaxError("text after the value", rest);
  return { text, members };
}

// Both walks below are spelled out: a function called for each member would cost more than its steps.

/** Where the first member of an object begins, or its end; -1 when the text is no object. */
function firstMember(text: JsonText): number {
  const at = skipSpace(text, 0);
  return text.charCodeAt(at) === 0x7b ? skipSpace(text, at + 1) : -1;
}

/** Where the next member begins, or the object ends, behind a value that ends here. */
function nextMember(text: JsonText, end: number): number {
  const at = skipSpace(text, end);
  return text.charCodeAt(at) === 0x2c ? skipSpace(text, at + 1) : at;
}

/** Reads text that is already known to be well formed; undefined when it is no object. */
export function readObject(text: JsonText | undefined): RawObject | undefined {
  if (text === undefined) return undefined;
  let i = firstMember(text);
  if (i === -1) return undefined;
  const members: RawMember[] = [];
  while (text.charCodeAt(i) !== 0x7d) {
    const keyEnd = skipString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    members.push({ key: decodeKey(text, i, keyEnd), keyStart: i, start, end });
    i = nextMember(text, end);
  }
  return { text, members };
}

/** The text of a member; of duplicates the last, as JSON.parse has it. */
export function memberOf(object: RawObject | undefined, key: string): JsonText | undefined {
  if (object === undefined) return undefined;
  for (let i = object.members.length - 1; i >= 0; i--) {
    const member = object.members[i];
    if (member?.key === key) return object.text.slice(member.start, member.end);
  }
  return undefined;
}

function isKey(text: string, start: number, end: number, key: string): boolean {
  const length = end - start - 2;
  if (length < key.length) return false;
  // Nothing is allocated for the usual key, which has the length it looks like.
  if (length === key.length && !key.includes("\\")) return text.startsWith(key, start + 1);
  return decodeKey(text, start, end) === key;
}

/** As memberOf(readObject(text), key), without remembering the other members. */
function findMember(text: JsonText, key: string): JsonText | undefined {
  let from = -1;
  let to = -1;
  let i = firstMember(text);
  if (i === -1) return undefined;
  while (text.charCodeAt(i) !== 0x7d) {
    const keyEnd = skipString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    if (isKey(text, i, keyEnd, key)) {
      from = start;
      to = end;
    }
    i = nextMember(text, end);
  }
  return from === -1 ? undefined : text.slice(from, to);
}

/** The text of a member of well-formed object text: `memberAt(params, "_meta", "progressToken")`. */
export function memberAt(
  text: JsonText | undefined,
  ...path: readonly string[]
): JsonText | undefined {
  let current = text;
  for (const key of path) {
    if (current === undefined) return undefined;
    current = findMember(current, key);
  }
  return current;
}
