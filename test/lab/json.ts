import { createHash } from "node:crypto";

export type JsonObject = { readonly [member: string]: Json };
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Strings in the order of their code units, whatever the locale. */
export function sorted(strings: Iterable<string>): readonly string[] {
  return [...strings].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
}

/** One text for all spellings of a value: members sorted by name, no spaces. */
export function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const names = sorted(Object.keys(value));
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** What `servers.json` keeps of a value: 16 hexadecimal digits. */
export function digest(value: Json | undefined): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 16);
}

/** A copy without some of its members. */
export function without(value: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function short(value: Json | undefined): string {
  const text = value === undefined ? "nothing" : canonical(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/** Of two texts, what begins a little before they part. */
function bothFromTheirParting(
  one: Json | undefined,
  other: Json | undefined,
): readonly [Json | undefined, Json | undefined] {
  if (typeof one !== "string" || typeof other !== "string") return [one, other];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const start = Math.max(0, same - 30);
  return start < 10 ? [one, other] : [`...${one.slice(start)}`, `...${other.slice(start)}`];
}

/** Where two values part first, as `path: expected, seen`; undefined when they are equal. */
export function firstDifference(
  expected: Json | undefined,
  seen: Json | undefined,
  path = "",
): string | undefined {
  if (canonical(expected) === canonical(seen) && (expected === undefined) === (seen === undefined))
    return undefined;
  const step = (name: string, one: Json | undefined, other: Json | undefined) =>
    firstDifference(one, other, path === "" ? name : `${path}.${name}`);
  if (Array.isArray(expected) && Array.isArray(seen) && expected.length === seen.length) {
    for (const [index, one] of expected.entries()) {
      const found = step(`${index}`, one, seen[index]);
      if (found !== undefined) return found;
    }
  }
  if (isObject(expected) && isObject(seen)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(seen)])) {
      const found = step(name, expected[name], seen[name]);
      if (found !== undefined) return found;
    }
  }
  const [one, other] = bothFromTheirParting(expected, seen);
  return `${path === "" ? "value" : path}: expected ${short(one)}, seen ${short(other)}`;
}
