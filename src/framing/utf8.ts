/** How much of a dropped text is told: enough to find the id of the message in it. */
const HEAD_CHARACTERS = 1_024;
/** No character of UTF-8 is longer than four bytes. */
export const HEAD_BYTES = HEAD_CHARACTERS * 4;

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text, or undefined when the bytes are no UTF-8. A byte order mark stays. */
export function decodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text with U+FFFD for what is no UTF-8. A byte order mark stays. */
export function decodeLenient(bytes: Uint8Array): string {
  return LENIENT.decode(bytes);
}

/** At most the first 1,024 characters, for telling what a dropped text was. */
export function headOf(bytes: Uint8Array): string {
  return decodeLenient(bytes.subarray(0, HEAD_BYTES)).slice(0, HEAD_CHARACTERS);
}

export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
