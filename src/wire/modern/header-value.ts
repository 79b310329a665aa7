/**
 * Values of `Mcp-Name` and `Mcp-Param-*`: plain where a header can carry them, else Base64 of their
 * UTF-8 between two marks (2026-07-28/basic/transports/streamable-http, "Value Encoding").
 */

const PREFIX = "=?base64?";
const SUFFIX = "?=";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const FIELD_CHARACTERS = /^[\t\x20-\x7e]*$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Strips the white space HTTP allows around a value. */
export function trimField(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value.charCodeAt(start))) start++;
  while (end > start && isSpace(value.charCodeAt(end - 1))) end--;
  return end - start === value.length ? value : value.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** The header value for a text; always visible ASCII, so no text can break out of its header. */
export function encodeHeaderValue(value: string): string {
  const plain =
    value !== "" &&
    FIELD_CHARACTERS.test(value) &&
    trimField(value) === value &&
    !(value.startsWith(PREFIX) && value.endsWith(SUFFIX));
  return plain ? value : `${PREFIX}${toBase64(encoder.encode(value))}${SUFFIX}`;
}

/** The text a header value stands for; undefined for characters, Base64 or UTF-8 that are not legal. */
export function decodeHeaderValue(header: string): string | undefined {
  const value = trimField(header);
  if (!FIELD_CHARACTERS.test(value)) return undefined;
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value;
  // Both marks may share their question mark: `=?base64?=` has nothing between them.
  if (value.length < PREFIX.length + SUFFIX.length) return value;
  const body = value.slice(PREFIX.length, -SUFFIX.length);
  const bytes = fromBase64(body);
  if (bytes === undefined) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function toBase64(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const a = bytes[i] ?? 0;
    const b = bytes[i + 1];
    const c = bytes[i + 2];
    out += ALPHABET.charAt(a >> 2);
    out += ALPHABET.charAt(((a & 3) << 4) | ((b ?? 0) >> 4));
    out += b === undefined ? "=" : ALPHABET.charAt(((b & 15) << 2) | ((c ?? 0) >> 6));
    out += c === undefined ? "=" : ALPHABET.charAt(c & 63);
  }
  return out;
}

/** Strict: padded, one spelling per value (no bits left over). */
function fromBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined;
  const digits = text.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (const digit of digits) {
    held = ((held << 6) | ALPHABET.indexOf(digit)) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
