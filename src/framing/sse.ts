import { createByteBuffer } from "./byte-buffer.js";
import { createSseLines } from "./sse-lines.js";
import { decodeLenient, headOf } from "./utf8.js";

/** One Server-Sent Event. With an `id` and empty `data` it only tells where the stream stands. */
export interface SseEvent {
  /** `message` unless the stream names it. */
  readonly event: string;
  readonly data: string;
  /** The id this event itself carries; the empty one takes an earlier id back. */
  readonly id: string | undefined;
  /** The wait before a reconnection, in milliseconds, when this event carries one. */
  readonly retry: number | undefined;
}

export interface SseDecoderOptions {
  /** An event whose data has more bytes is dropped, and so is a longer line of any kind. */
  readonly maxBytes: number;
  /** Takes each event that has data, be it empty. */
  onEvent(event: SseEvent): void;
  /** Tells of an event that is dropped, with at most the first 1,024 characters of the line. */
  onOversized(head: string): void;
  /** Tells each `retry` as it comes, also where no event carries it. */
  onRetry?(milliseconds: number): void;
}

/** Cuts bytes into events as they come. */
export interface SseDecoder {
  /** The chunk is not kept: its memory may be reused afterwards. */
  push(chunk: Uint8Array): void;
  /** The bytes are over: an event without its blank line is discarded. */
  end(): void;
  /** The last id of the stream, of events without data too; empty while there is none. */
  readonly lastEventId: string;
}

const FIELDS = ["data", "event", "id", "retry"] as const;
const USUAL_NAME = "message";
const LF = Uint8Array.of(0x0a);
const SPACE = 0x20;
const COLON = 0x3a;
/** What a line holds beside the data: the field's name, the colon, a byte order mark. */
const NAME_ROOM = 16;
/** The longest wait a host's timer can hold; it takes a longer one for none. */
const LONGEST_RETRY_MS = 2 ** 31 - 1;

/**
 * Reads Server-Sent Events as the HTML standard has it: lines end in CR, LF or CRLF, wherever the
 * chunks are cut; bytes that are no UTF-8 become U+FFFD. Memory is bounded by a few times `maxBytes`.
 */
export function createSseDecoder(options: SseDecoderOptions): SseDecoder {
  const { maxBytes, onEvent, onOversized, onRetry } = options;
  /** Data behind its first line. Most events have one line, which is decoded where it lies. */
  const more = createByteBuffer();
  let firstLine: string | undefined;
  let size = 0;
  let lost = false;
  let name = "";
  let id: string | undefined;
  let retry: number | undefined;
  let lastEventId = "";

  const forget = (): void => {
    more.clear();
    firstLine = undefined;
    size = 0;
    lost = false;
    name = "";
    id = undefined;
    retry = undefined;
  };

  const lose = (start: Uint8Array): void => {
    if (lost || start[0] === COLON) return;
    more.clear();
    firstLine = undefined;
    lost = true;
    onOversized(headOf(start));
  };

  const addData = (line: Uint8Array, value: Uint8Array): void => {
    if (lost) return;
    size += firstLine === undefined ? value.length : value.length + 1;
    if (size > maxBytes) lose(line);
    else if (firstLine === undefined) firstLine = decodeLenient(value);
    else {
      more.append(LF);
      more.append(value);
    }
  };

  const addId = (value: string): void => {
    if (!value.includes("\0")) id = value;
  };

  const addRetry = (value: string): void => {
    if (!/^[0-9]+$/.test(value)) return;
    retry = Math.min(Number(value), LONGEST_RETRY_MS);
    onRetry?.(retry);
  };

  const complete = (): void => {
    if (id !== undefined) lastEventId = id;
    const data = more.length === 0 ? firstLine : firstLine + decodeLenient(more.view());
    const event = name === "" ? USUAL_NAME : name;
    const own = { id, retry };
    forget();
    if (data !== undefined) onEvent({ event, data, id: own.id, retry: own.retry });
  };

  const onLine = (line: Uint8Array): void => {
    if (line.length === 0) {
      complete();
      return;
    }
    const field = FIELDS.find((one) => isField(line, one));
    if (field === undefined) return;
    const value = line.subarray(field.length + (line[field.length + 1] === SPACE ? 2 : 1));
    if (field === "data") addData(line, value);
    else if (field === "event") name = decodeName(value);
    else if (field === "id") addId(decodeLenient(value));
    else addRetry(decodeLenient(value));
  };

  const lines = createSseLines({ maxBytes: maxBytes + NAME_ROOM, onLine, onOversized: lose });
  return {
    push: lines.push,
    end() {
      lines.discard();
      forget();
    },
    get lastEventId() {
      return lastEventId;
    },
  };
}

function startsWith(line: Uint8Array, word: string): boolean {
  for (let i = 0; i < word.length; i++) if (line[i] !== word.charCodeAt(i)) return false;
  return true;
}

function isField(line: Uint8Array, name: string): boolean {
  return startsWith(line, name) && (line.length === name.length || line[name.length] === COLON);
}

/** The usual name is recognized by its bytes: decoding a few bytes costs more than the rest. */
function decodeName(value: Uint8Array): string {
  const isUsual = value.length === USUAL_NAME.length && startsWith(value, USUAL_NAME);
  return isUsual ? USUAL_NAME : decodeLenient(value);
}

/** What an event is written from: data of any text, and fields that are left out when undefined. */
export interface SseEventParts {
  readonly data: string;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  /** Whole milliseconds. */
  readonly retry?: number | undefined;
}

/**
 * The text of one event. A line break within the data reads back as LF. Throws TypeError when the
 * id or the event's name holds a line break or NUL, which would write other fields.
 */
export function sseEvent({ data, event, id, retry }: SseEventParts): string {
  const eventLine = event === undefined ? "" : oneLine("event", event);
  const idLine = id === undefined ? "" : oneLine("id", id);
  const retryLine = retry === undefined ? "" : `retry: ${retry}\n`;
  return `${eventLine}${idLine}${retryLine}${eachLine("data: ", data)}\n`;
}

/** A comment, which readers skip: it keeps a silent stream open. */
export function sseComment(text = ""): string {
  return `${eachLine(": ", text)}\n`;
}

function oneLine(name: "event" | "id", value: string): string {
  if (value.includes("\n") || value.includes("\r") || value.includes("\0")) {
    throw new TypeError(`the ${name} field is one line`);
  }
  return `${name}: ${value}\n`;
}

function eachLine(prefix: string, text: string): string {
  if (!text.includes("\n") && !text.includes("\r")) return `${prefix}${text}\n`;
  return text
    .replace(/^/, prefix)
    .replace(/\r\n|\r|\n/g, `\n${prefix}`)
    .concat("\n");
}
