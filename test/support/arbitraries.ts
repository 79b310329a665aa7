import fc from "fast-check";

/** A JSON value as text, together with what the generator knows of it. */
export interface JsonNode {
  readonly text: string;
  /** The members of an object in order, undefined for other values. */
  readonly members: readonly MemberNode[] | undefined;
}

export interface MemberNode {
  readonly key: string;
  /** The key as written, up to the value: quotes, escapes, colon and spaces. */
  readonly prefix: string;
  readonly value: JsonNode;
}

const space = fc.oneof(
  { weight: 5, arbitrary: fc.constant("") },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(" ", "\n", "\r", "\t"), maxLength: 3 }),
  },
);

const hex = (code: number): string => code.toString(16).padStart(4, "0");

/** Parts of a string as they may be written, odd ones among them. */
const stringPart = fc.oneof(
  fc.constantFrom('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"),
  fc.constantFrom("\\u0000", "\\u005C", "\\u0022", "\\ud83d", "\\udd8a", "\\uD83D\\uDD8A"),
  fc.constantFrom(
    "\u2028",
    "\u2029",
    "\u007f",
    "\ufeff",
    "🦊",
    "狐",
    "ñ",
    "/",
    "'",
    "{",
    "}",
    ",",
    ":",
  ),
  fc.integer({ min: 0, max: 0xffff }).map((code) => `\\u${hex(code)}`),
  fc.string({ unit: "binary", maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc
    .string({ unit: "grapheme-ascii", maxLength: 80 })
    .map((text) => JSON.stringify(text).slice(1, -1)),
);

/** The text of a string, however it may be escaped. */
export const jsonStringText: fc.Arbitrary<string> = fc
  .array(stringPart, { maxLength: 4 })
  .map((parts) => `"${parts.join("")}"`);

/** The text of a number, also one that no double can hold. */
export const jsonNumberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "0",
    "-0",
    "1.0",
    "1.10",
    "1e400",
    "-1E-400",
    "9007199254740993",
    "1e+2",
    "0.10e-7",
  ),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

/** Few names, so that duplicates are common; each may be written plainly or escaped. */
const KEYS: readonly string[] = [
  "a",
  "b",
  "_meta",
  "",
  "a\\b",
  'a"',
  "é",
  "\0",
  "__proto__",
  "狐狸",
];
export const memberKey: fc.Arbitrary<string> = fc.constantFrom(...KEYS);

const keyText = (key: string, escaped: boolean): string =>
  escaped ? `"${[...key].map((c) => `\\u${hex(c.charCodeAt(0))}`).join("")}"` : JSON.stringify(key);

const leaf: fc.Arbitrary<JsonNode> = fc
  .oneof(fc.constantFrom("true", "false", "null", "[]", "[ ]"), jsonNumberText, jsonStringText)
  .map((text) => ({ text, members: undefined }));

function arrayOf(value: fc.Arbitrary<JsonNode>): fc.Arbitrary<JsonNode> {
  const element = fc
    .tuple(space, value, space)
    .map(([before, { text }, after]) => before + text + after);
  return fc
    .array(element, { maxLength: 4 })
    .map((elements) => ({ text: `[${elements.join(",")}]`, members: undefined }));
}

function memberOf(value: fc.Arbitrary<JsonNode>) {
  return fc
    .tuple(space, memberKey, fc.boolean(), space, space, value, space)
    .map(([before, key, escaped, s1, s2, node, after]) => {
      const prefix = `${keyText(key, escaped)}${s1}:${s2}`;
      return { member: { key, prefix, value: node }, text: before + prefix + node.text + after };
    });
}

function objectOf(value: fc.Arbitrary<JsonNode>): fc.Arbitrary<JsonNode> {
  return fc.tuple(fc.array(memberOf(value), { maxLength: 6 }), space).map(([members, empty]) => ({
    text: `{${members.length === 0 ? empty : members.map(({ text }) => text).join(",")}}`,
    members: members.map(({ member }) => member),
  }));
}

const { object, value } = fc.letrec<{ object: JsonNode; array: JsonNode; value: JsonNode }>(
  (tie) => ({
    object: objectOf(tie("value")),
    array: arrayOf(tie("value")),
    value: fc.oneof({ maxDepth: 4, depthSize: "small" }, leaf, tie("object"), tie("array")),
  }),
);

/** Any JSON value as it may be written: odd spaces, escapes, numbers, duplicate and unusual keys. */
export const jsonNode: fc.Arbitrary<JsonNode> = value;
/** As jsonNode, always an object. */
export const jsonObjectNode: fc.Arbitrary<JsonNode> = object;

export const jsonText: fc.Arbitrary<string> = fc
  .tuple(space, jsonNode, space)
  .map(([before, node, after]) => before + node.text + after);

/** Text that may be JSON no longer: some characters are taken away, put in or replaced. */
export const mutatedJsonText: fc.Arbitrary<string> = fc
  .tuple(
    jsonText,
    fc.array(
      fc.record({
        at: fc.nat({ max: 200 }),
        taken: fc.nat({ max: 2 }),
        put: fc.oneof(
          fc.string({
            unit: fc.constantFrom(...'{}[]",:\\/ue+-.0123456789tfn \n\u0000\u001f\u00a0\ufeff'),
            maxLength: 2,
          }),
          fc.constantFrom(
            "true",
            "null",
            "nul",
            "\\u12",
            "\\x",
            "//",
            "NaN",
            "01",
            "1.",
            ".5",
            "+1",
          ),
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([text, changes]) =>
    changes.reduce((now, { at, taken, put }) => {
      const from = at % (now.length + 1);
      return now.slice(0, from) + put + now.slice(from + taken);
    }, text),
  );

/** Cuts the bytes into pieces at any places, empty pieces included. */
export function chunked(bytes: Uint8Array): fc.Arbitrary<readonly Uint8Array[]> {
  return fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }).map((cuts) => {
    const bounds = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
    return bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end));
  });
}
