import { JsonSyntaxError, skipSpace } from "./scan.js";

/**
 * Steps over values of text that is already known to be well formed. Nothing is validated, but text
 * that breaks off ends in a JsonSyntaxError and not in an endless loop.
 */

function brokenOff(text: string): never {
  throw new JsonSyntaxError("unexpected end of text", text.length);
}

/** `at` is the opening quote; returns the index behind the closing one. */
export function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return brokenOff(text);
}

function skipContainer(text: string, at: number): number {
  let depth = 0;
  let i = at;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      i = skipString(text, i);
      continue;
    }
    if (c === 0x7b || c === 0x5b) depth++;
    else if (c === 0x7d || c === 0x5d) {
      depth--;
      if (depth === 0) return i + 1;
    }
    i++;
  }
  return brokenOff(text);
}

function skipScalar(text: string, at: number): number {
  let i = at;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x2c || c === 0x7d || c === 0x5d || c <= 0x20) break;
  }
  return i === at ? brokenOff(text) : i;
}

/** `at` is the first character of a value; returns the index behind its last. */
export function skipValue(text: string, at: number): number {
  const c = text.charCodeAt(at);
  if (c === 0x22) return skipString(text, at);
  if (c === 0x7b || c === 0x5b) return skipContainer(text, at);
  return skipScalar(text, at);
}

/** The element texts of a well-formed array, at most the first `most` of them. */
export function elementsOf(text: string, most = Number.POSITIVE_INFINITY): readonly string[] {
  const elements: string[] = [];
  const open = skipSpace(text, 0);
  if (text.charCodeAt(open) !== 0x5b) return elements;
  let i = skipSpace(text, open + 1);
  while (text.charCodeAt(i) !== 0x5d && elements.length < most) {
    const end = skipValue(text, i);
    elements.push(text.slice(i, end));
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === 0x2c) i = skipSpace(text, i + 1);
  }
  return elements;
}
