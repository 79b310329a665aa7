import { asString, type JsonText, quote } from "./json-text.js";
import { readObject } from "./raw-object.js";
import { elementsOf } from "./skip.js";

/** Exponents with more digits are compared as they are written: computing with them would cost. */
const MAX_EXPONENT_DIGITS = 15;

/** A decimal number as sign, digits and power of ten: `1`, `1.0` and `10e-1` agree, no digit is lost. */
function canonicalNumber(text: JsonText): JsonText {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = withoutLeadingZeros(whole + fraction);
  const significant = withoutTrailingZeros(digits);
  if (significant === "") return "0";
  if (exponent.length > MAX_EXPONENT_DIGITS) return text;
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign}${significant}e${power}`;
}

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits.charCodeAt(start) === 0x30) start++;
  return digits.slice(start);
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, end);
}

/**
 * Equal for texts of equal value: members sorted (of duplicates the last), numbers by exact decimal
 * value, strings by content. For comparing and hashing, not for sending.
 */
export function canonicalText(text: JsonText): JsonText {
  const first = text.charCodeAt(0);
  if (first === 0x7b) {
    const object = readObject(text);
    const members = new Map<string, JsonText>();
    for (const { key, start, end } of object?.members ?? [])
      members.set(key, text.slice(start, end));
    const keys = [...members.keys()].sort((a, b) => (a < b ? -1 : 1));
    return `{${keys.map((key) => `${quote(key)}:${canonicalText(members.get(key) ?? "null")}`).join(",")}}`;
  }
  if (first === 0x5b) return `[${elementsOf(text).map(canonicalText).join(",")}]`;
  if (first === 0x22) return quote(asString(text) ?? "");
  return first === 0x2d || (first >= 0x30 && first <= 0x39) ? canonicalNumber(text) : text;
}
