/** Why and where a text is not JSON, or exceeds a bound of the reader. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly at: number;

  constructor(reason: string, at: number) {
    super(`${reason} at character ${at}`);
    this.at = at;
  }
}

/** Values nested deeper than this are refused: no real message comes near it, an attack does. */
export const MAX_DEPTH = 256;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const HEX = /[0-9a-fA-F]{4}/y;

export function skipSpace(text: string, at: number): number {
  let i = at;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) i++;
    else return i;
  }
}

function scanEscape(text: string, at: number): number {
  switch (text.charCodeAt(at + 1)) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      HEX.lastIndex = at + 2;
      if (HEX.test(text)) return at + 6;
      throw new JsonSyntaxError("bad unicode escape", at);
    default:
      throw new JsonSyntaxError("bad escape", at);
  }
}

/** `at` is the opening quote; returns the index behind the closing one. */
export function scanString(text: string, at: number): number {
  let i = at + 1;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c === 0x22) return i + 1;
    if (c === 0x5c) i = scanEscape(text, i);
    else if (c >= 0x20) i++;
    else if (c < 0x20) throw new JsonSyntaxError("raw control character in a string", i);
    else throw new JsonSyntaxError("unterminated string", at);
  }
}

function scanNumber(text: string, at: number): number {
  NUMBER.lastIndex = at;
  if (!NUMBER.test(text)) throw new JsonSyntaxError("bad number", at);
  return NUMBER.lastIndex;
}

function scanWord(text: string, at: number, word: string): number {
  if (!text.startsWith(word, at)) throw new JsonSyntaxError("unexpected word", at);
  return at + word.length;
}

function scanArray(text: string, at: number, depth: number): number {
  let i = skipSpace(text, at + 1);
  if (text.charCodeAt(i) === 0x5d) return i + 1;
  for (;;) {
    i = skipSpace(text, scanValue(text, i, depth));
    const c = text.charCodeAt(i);
    if (c === 0x5d) return i + 1;
    if (c !== 0x2c) throw new JsonSyntaxError("expected , or ]", i);
    i = skipSpace(text, i + 1);
  }
}

/** What a walk over an object tells about each member, in order. */
type OnMember = (keyStart: number, keyEnd: number, start: number, end: number) => void;

/** `at` is the opening brace; returns the index behind the closing one. */
export function scanObject(text: string, at: number, depth: number, onMember?: OnMember): number {
  let i = skipSpace(text, at + 1);
  if (text.charCodeAt(i) === 0x7d) return i + 1;
  for (;;) {
    if (text.charCodeAt(i) !== 0x22) throw new JsonSyntaxError("expected a member name", i);
    const keyStart = i;
    const keyEnd = scanString(text, i);
    i = skipSpace(text, keyEnd);
    if (text.charCodeAt(i) !== 0x3a) throw new JsonSyntaxError("expected :", i);
    const start = skipSpace(text, i + 1);
    const end = scanValue(text, start, depth);
    onMember?.(keyStart, keyEnd, start, end);
    i = skipSpace(text, end);
    const c = text.charCodeAt(i);
    if (c === 0x7d) return i + 1;
    if (c !== 0x2c) throw new JsonSyntaxError("expected , or }", i);
    i = skipSpace(text, i + 1);
  }
}

/** `at` is the first character of a value; returns the index behind its last. Throws JsonSyntaxError. */
export function scanValue(text: string, at: number, depth: number): number {
  if (depth >= MAX_DEPTH) throw new JsonSyntaxError(`nesting deeper than ${MAX_DEPTH}`, at);
  const c = text.charCodeAt(at);
  switch (c) {
    case 0x22:
      return scanString(text, at);
    case 0x7b:
      return scanObject(text, at, depth + 1);
    case 0x5b:
      return scanArray(text, at, depth + 1);
    case 0x74:
      return scanWord(text, at, "true");
    case 0x66:
      return scanWord(text, at, "false");
    case 0x6e:
      return scanWord(text, at, "null");
    default:
      if (c === 0x2d || (c >= 0x30 && c <= 0x39)) return scanNumber(text, at);
      throw new JsonSyntaxError(
        at >= text.length ? "unexpected end of text" : "unexpected character",
        at,
      );
  }
}

/** Checks that the text is exactly one JSON value. Throws JsonSyntaxError. */
export function assertJson(text: string): void {
  const end = skipSpace(text, scanValue(text, skipSpace(text, 0), 0));
  if (end !== text.length) throw new JsonSyntaxError("text after the value", end);
}
