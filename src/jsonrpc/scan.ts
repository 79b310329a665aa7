/** Why and where a text is not JSON, or exceeds a bound of the reader. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly at: number;

  constructor(reason: string, at: number) {
    super(`${reason} at character ${at}`);
    this.at = at;
  }
}

/** Containers nested deeper than this are refused: no real message comes near it, an attack does. */
const MAX_DEPTH = 256;

/** Objects with more members are refused: reading one by member costs an allocation for each. */
const MAX_MEMBERS = 1_000_000;

/** A long run of plain characters; the engine matches it several times faster than a loop reads it. */
const PLAIN_RUN = /[ !#-[\]-\uffff]*/y;
/** Strings up to about this length are read by the loop alone, which is faster for short ones. */
const SHORT_RUN = 48;

export function skipSpace(text: string, at: number): number {
  // Engines give up the fast way to read a character once it was tried behind the end.
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i;
  }
  return text.length;
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

function isHexDigit(c: number): boolean {
  return isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);
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
      for (let i = at + 2; i < at + 6; i++) {
        if (!isHexDigit(text.charCodeAt(i))) throw new JsonSyntaxError("bad unicode escape", at);
      }
      return at + 6;
    default:
      throw new JsonSyntaxError("bad escape", at);
  }
}

function skipPlain(text: string, at: number): number {
  PLAIN_RUN.lastIndex = at;
  PLAIN_RUN.test(text);
  return PLAIN_RUN.lastIndex;
}

/** `at` is the opening quote; returns the index behind the closing one. */
function scanString(text: string, at: number): number {
  let i = at + 1;
  for (;;) {
    const loopEnd = i + SHORT_RUN;
    let c = text.charCodeAt(i);
    while (c >= 0x20 && c !== 0x22 && c !== 0x5c && i < loopEnd) c = text.charCodeAt(++i);
    if (c === 0x22) return i + 1;
    if (c === 0x5c) i = scanEscape(text, i);
    else if (c >= 0x20) i = skipPlain(text, i);
    else if (c < 0x20) throw new JsonSyntaxError("raw control character in a string", i);
    else throw new JsonSyntaxError("unterminated string", at);
  }
}

function scanDigits(text: string, from: number, at: number): number {
  if (!isDigit(text.charCodeAt(from))) throw new JsonSyntaxError("bad number", at);
  let i = from + 1;
  while (isDigit(text.charCodeAt(i))) i++;
  return i;
}

function scanNumber(text: string, at: number): number {
  let i = text.charCodeAt(at) === 0x2d ? at + 1 : at;
  // A zero stands alone; a digit behind it is found by whoever reads on.
  i = text.charCodeAt(i) === 0x30 ? i + 1 : scanDigits(text, i, at);
  if (text.charCodeAt(i) === 0x2e) i = scanDigits(text, i + 1, at);
  const e = text.charCodeAt(i);
  if (e !== 0x65 && e !== 0x45) return i;
  const sign = text.charCodeAt(i + 1);
  return scanDigits(text, sign === 0x2b || sign === 0x2d ? i + 2 : i + 1, at);
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

/** `at` is the opening brace, `depth` counts it too; returns the index behind the closing one. */
export function scanObject(text: string, at: number, depth: number, onMember?: OnMember): number {
  let i = skipSpace(text, at + 1);
  if (text.charCodeAt(i) === 0x7d) return i + 1;
  for (let count = 1; ; count++) {
    if (count > MAX_MEMBERS) throw new JsonSyntaxError(`more than ${MAX_MEMBERS} members`, i);
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

function deeper(depth: number, at: number): number {
  if (depth >= MAX_DEPTH) throw new JsonSyntaxError(`nesting deeper than ${MAX_DEPTH}`, at);
  return depth + 1;
}

/**
 * `at` is the first character of a value and `depth` the number of containers around it; returns
 * the index behind its last character. Throws JsonSyntaxError.
 */
function scanValue(text: string, at: number, depth: number): number {
  const c = text.charCodeAt(at);
  switch (c) {
    case 0x22:
      return scanString(text, at);
    case 0x7b:
      return scanObject(text, at, deeper(depth, at));
    case 0x5b:
      return scanArray(text, at, deeper(depth, at));
    case 0x74:
      return scanWord(text, at, "true");
    case 0x66:
      return scanWord(text, at, "false");
    case 0x6e:
      return scanWord(text, at, "null");
    default:
      if (c === 0x2d || isDigit(c)) return scanNumber(text, at);
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
