import { createByteBuffer } from "./byte-buffer.js";
import { HEAD_BYTES } from "./utf8.js";

export interface SseLinesOptions {
  /** A line with more bytes is dropped. */
  readonly maxBytes: number;
  /** Takes each line without its end, blank ones too; the bytes are valid during the call. */
  onLine(line: Uint8Array): void;
  /** Tells what a line that was dropped began with. */
  onOversized(start: Uint8Array): void;
}

/** Cuts the bytes of an event stream into lines as they come. */
export interface SseLines {
  push(chunk: Uint8Array): void;
  /** Forgets a line that has no end yet. */
  discard(): void;
}

const LF = 0x0a;
const CR = 0x0d;

/** Lines end in CR, LF or CRLF; a byte order mark at the start of the stream is skipped. */
export function createSseLines({ maxBytes, onLine, onOversized }: SseLinesOptions): SseLines {
  const pending = createByteBuffer();
  let atStart = true;
  let afterReturn = false;
  let skipping = false;

  const drop = (last: Uint8Array): void => {
    const missing = Math.min(HEAD_BYTES, maxBytes) - pending.length;
    if (missing > 0) pending.append(last.subarray(0, missing));
    const start = pending.view().subarray(0, maxBytes);
    pending.clear();
    onOversized(start);
  };

  /** The end of a line, or all of it when nothing is pending. */
  const takeEnd = (rest: Uint8Array): void => {
    if (skipping) {
      skipping = false;
      return;
    }
    if (pending.length + rest.length > maxBytes) {
      drop(rest);
      return;
    }
    if (pending.length > 0) pending.append(rest);
    const line = pending.length > 0 ? pending.view() : rest;
    pending.clear();
    onLine(atStart ? withoutMark(line) : line);
    atStart = false;
  };

  const keep = (rest: Uint8Array): void => {
    if (skipping || rest.length === 0) return;
    skipping = pending.length + rest.length > maxBytes;
    if (skipping) drop(rest);
    else pending.append(rest);
  };

  return {
    push(chunk) {
      let at = 0;
      // Each byte is searched once: streams that use one of the two line ends never show the other.
      let nextLf = indexOf(chunk, LF, 0);
      let nextCr = indexOf(chunk, CR, 0);
      while (nextLf !== nextCr) {
        const lineEnd = Math.min(nextLf, nextCr);
        const isSecondHalf = afterReturn && lineEnd === at && lineEnd === nextLf;
        if (!isSecondHalf) takeEnd(chunk.subarray(at, lineEnd));
        afterReturn = lineEnd === nextCr;
        at = lineEnd + 1;
        if (nextLf < at) nextLf = indexOf(chunk, LF, at);
        if (nextCr < at) nextCr = indexOf(chunk, CR, at);
      }
      if (at < chunk.length) afterReturn = false;
      keep(chunk.subarray(at));
    },
    discard() {
      pending.clear();
      skipping = false;
      afterReturn = false;
      atStart = true;
    },
  };
}

/** As Uint8Array.indexOf, with the length for "nowhere". */
function indexOf(chunk: Uint8Array, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}

function withoutMark(line: Uint8Array): Uint8Array {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}
