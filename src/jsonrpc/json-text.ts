/**
 * A well-formed JSON value as the characters it arrived in. The bridge carries values as text so
 * that digits, escapes, duplicate keys and key order survive; it parses only what it must understand.
 */
export type JsonText = string;

/** The JSON text of a string. */
export function quote(value: string): JsonText {
  return JSON.stringify(value);
}

/** The JSON text of a plain value made by the bridge itself. */
export function toJsonText(value: unknown): JsonText {
  return JSON.stringify(value);
}

/** The parsed value, for the few members the bridge interprets. Numbers become doubles here. */
export function parseJson(text: JsonText): unknown {
  return JSON.parse(text);
}

/** The string a JSON text stands for, or undefined when it is another kind of value. */
export function asString(text: JsonText | undefined): string | undefined {
  if (text === undefined || text.charCodeAt(0) !== 0x22) return undefined;
  if (!text.includes("\\")) return text.slice(1, -1);
  return JSON.parse(text) as string;
}

/** The number a JSON text stands for, or undefined when it is another kind of value. */
export function asNumber(text: JsonText | undefined): number | undefined {
  if (text === undefined) return undefined;
  const first = text.charCodeAt(0);
  return first === 0x2d || (first >= 0x30 && first <= 0x39) ? Number(text) : undefined;
}

export function isObjectText(text: JsonText | undefined): text is JsonText {
  return text !== undefined && text.charCodeAt(0) === 0x7b;
}

export function isArrayText(text: JsonText | undefined): text is JsonText {
  return text !== undefined && text.charCodeAt(0) === 0x5b;
}

/**
 * The same value on one line. Raw line breaks in valid JSON only ever stand between tokens, so
 * replacing them changes no value (stdio messages must not contain embedded newlines:
 * 2026-07-28/basic/transports/stdio).
 */
export function onOneLine(text: JsonText): JsonText {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]+/g, " ") : text;
}
