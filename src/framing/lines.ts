import { createByteBuffer } from "./byte-buffer.js";
import { decodeStrict, HEAD_BYTES, headOf, withoutByteOrderMark } from "./utf8.js";

export interface LineDecoderOptions {
  /** A line with more bytes is dropped. */
  readonly maxBytes: number;
  /** Takes each line without its end; blank lines are left out. */
  onLine(text: string): void;
  /** Tells of a line that was dropped, with at most its first 1,024 characters. */
  onDropped(reason: "oversized" | "not-utf8", head: string): void;
}

/** Cuts bytes into lines as they come. */
export interface LineDecoder {
  /** The chunk is not kept: its memory may be reused afterwards. */
  push(chunk: Uint8Array): void;
  /** The bytes are over: a last line without a line end counts. */
  end(): void;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Reads newline-delimited messages (2026-07-28/basic/transports/stdio). Memory is bounded by
 * `maxBytes`; a line that is too long or no UTF-8 takes nothing with it but itself.
 */
export function createLineDecoder(options: LineDecoderOptions): LineDecoder {
  const { maxBytes, onLine, onDropped } = options;
  const pending = createByteBuffer();
  let skipping = false;

  const dropOversized = (last: Uint8Array): void => {
    const missing = Math.min(HEAD_BYTES, maxBytes) - pending.length;
    if (missing > 0) pending.append(last.subarray(0, missing));
    const head = headOf(pending.view().subarray(0, maxBytes));
    pending.clear();
    onDropped("oversized", head);
  };

  const deliver = (text: string | undefined, head: string): void => {
    if (text === undefined) onDropped("not-utf8", head);
    else if (!isBlank(text)) onLine(withoutByteOrderMark(text));
  };

  /** The end of a line, or all of it when nothing is pending. */
  const takeEnd = (rest: Uint8Array): void => {
    if (skipping) {
      skipping = false;
      return;
    }
    if (pending.length + rest.length > maxBytes) {
      dropOversized(rest);
      return;
    }
    if (pending.length > 0) pending.append(rest);
    const line = withoutReturn(pending.length > 0 ? pending.view() : rest);
    const text = decodeStrict(line);
    const head = text === undefined ? headOf(line) : "";
    pending.clear();
    deliver(text, head);
  };

  const keep = (rest: Uint8Array): void => {
    if (skipping || rest.length === 0) return;
    if (pending.length + rest.length > maxBytes) {
      skipping = true;
      dropOversized(rest);
    } else pending.append(rest);
  };

  return {
    push(chunk) {
      let at = 0;
      for (;;) {
        const lineEnd = chunk.indexOf(LF, at);
        if (lineEnd === -1) break;
        takeEnd(chunk.subarray(at, lineEnd));
        at = lineEnd + 1;
      }
      keep(chunk.subarray(at));
    },
    end() {
      takeEnd(new Uint8Array(0));
    },
  };
}

function withoutReturn(line: Uint8Array): Uint8Array {
  return line[line.length - 1] === CR ? line.subarray(0, -1) : line;
}

function isBlank(text: string): boolean {
  const c = text.charCodeAt(0);
  return text === "" || ((c <= 0x20 || c === 0xfeff) && text.trim() === "");
}
