/** One event of a stream, as far as a link needs it. */
export interface PlainEvent {
  readonly data: string;
  readonly id: string | undefined;
}

const LF = 0x0a;
const DATA = "data: ";
const ID = "id: ";
const USUAL_EVENT = "event: message";

/**
 * The event of a chunk that is exactly one message event in the plainest spelling, as most servers
 * write their answers. Undefined for anything else, which a decoder of the whole grammar has to read;
 * where both read a chunk they read the same.
 */
export function readPlainEvent(
  chunk: Uint8Array,
  decode: (bytes: Uint8Array) => string,
): PlainEvent | undefined {
  const length = chunk.length;
  if (chunk[length - 1] !== LF || chunk[length - 2] !== LF) return undefined;
  const text = decode(chunk);
  return text.includes("\r") ? undefined : readLines(text);
}

function readLines(text: string): PlainEvent | undefined {
  let data: string | undefined;
  let id: string | undefined;
  let at = 0;
  for (;;) {
    const end = text.indexOf("\n", at);
    if (end === at) break;
    if (text.startsWith(DATA, at)) {
      if (data !== undefined) return undefined;
      data = text.slice(at + DATA.length, end);
    } else if (text.startsWith(ID, at)) {
      id = text.slice(at + ID.length, end);
      if (id.includes("\0")) return undefined;
    } else if (!text.startsWith(USUAL_EVENT, at) || end !== at + USUAL_EVENT.length) {
      return undefined;
    }
    at = end + 1;
  }
  return data !== undefined && at === text.length - 1 ? { data, id } : undefined;
}
