import { createDraft } from "../jsonrpc/draft.js";
import { INTERNAL_ERROR, PARSE_ERROR } from "../jsonrpc/error-codes.js";
import { asNumber, asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import {
  type ErrorMessage,
  type Malformed,
  type NotificationMessage,
  parseMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt, readObject } from "../jsonrpc/raw-object.js";
import { JsonSyntaxError, scanObject, skipSpace } from "../jsonrpc/scan.js";

/** What a text of a server turned out to be. One text may hold several messages, or none. */
export interface PeerTextSink {
  call(message: RequestMessage | NotificationMessage): void;
  /** The answer to an open request; the message's own id is that request's, however the peer wrote it. */
  answer(id: number, message: ResponseMessage | ErrorMessage): void;
  /** The answer to an open request came and is no legal message. */
  spoiled(id: number, reason: string): void;
  /** An answer to nothing that is open: late, or foreign. */
  stray(): void;
  /** No message at all. */
  noise(reason: string): void;
}

/**
 * Which open request an answer is for. Peers that write the number as `7.0` or `"7"` are understood;
 * one that cannot tell (`null`, `0`, `""`, nothing) is believed while exactly one request is open.
 * Any other id that is not open belongs to a request that is over.
 */
export function requestAnswered(
  id: RequestId | undefined,
  open: ReadonlyMap<number, unknown>,
): number | undefined {
  const text = id === undefined ? "" : (asString(id) ?? id);
  const number = text.trim() === "" ? 0 : Number(text);
  if (open.has(number)) return number;
  return number === 0 ? onlyKey(open) : undefined;
}

function onlyKey(open: ReadonlyMap<number, unknown>): number | undefined {
  if (open.size !== 1) return undefined;
  for (const key of open.keys()) return key;
  return undefined;
}

/** Members of an object text that may be cut short or broken, as far as they can be read. */
function membersOfHead(head: string): ReadonlyMap<string, JsonText> {
  const members = new Map<string, JsonText>();
  const start = skipSpace(head, 0);
  if (head.charCodeAt(start) !== 0x7b) return members;
  try {
    scanObject(head, start, 1, (keyStart, keyEnd, valueStart, valueEnd) => {
      // A value that touches the cut may go on behind it.
      if (valueEnd === head.length) return;
      members.set(head.slice(keyStart + 1, keyEnd - 1), head.slice(valueStart, valueEnd));
    });
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  return members;
}

/**
 * The open request whose answer begins with this head; for answers that were dropped for their length
 * or are cut short. Where the head names no id, the only open request is taken.
 */
export function requestInHead(
  head: string,
  open: ReadonlyMap<number, unknown>,
): number | undefined {
  const members = membersOfHead(head);
  if (members.get("jsonrpc") !== '"2.0"' || members.has("method")) return undefined;
  return requestAnswered(members.get("id"), open);
}

/** Reads one text, splitting an array into its messages (2025-03-26/basic, "Batching"). */
export function readPeerText(
  text: string,
  open: ReadonlyMap<number, unknown>,
  sink: PeerTextSink,
): void {
  const parsed = parseMessage(text);
  switch (parsed.type) {
    case "request":
    case "notification":
      sink.call(parsed);
      return;
    case "response":
    case "error":
      readAnswer(parsed, open, sink);
      return;
    case "batch":
      for (const element of parsed.elements) readPeerText(element, open, sink);
      return;
    case "malformed":
      readMalformed(text, parsed, open, sink);
      return;
  }
}

function readAnswer(
  message: ResponseMessage | ErrorMessage,
  open: ReadonlyMap<number, unknown>,
  sink: PeerTextSink,
): void {
  const id = requestAnswered(message.id, open);
  if (id === undefined) {
    sink.stray();
    return;
  }
  const idText = String(id);
  const sound = message.type === "error" ? mended(message) : message;
  sink.answer(id, sound.id === idText ? sound : { ...sound, id: idText });
}

/**
 * An error that clients can read: many take one without a number as its code, or without a message, for
 * no answer at all. What the server wrote goes along in `data`.
 */
export function mended(message: ErrorMessage): ErrorMessage {
  const { error } = message;
  const hasCode = Number.isInteger(asNumber(memberAt(error, "code")));
  const hasMessage = asString(memberAt(error, "message")) !== undefined;
  if (hasCode && hasMessage) return message;
  const draft = createDraft(error);
  if (!hasCode) draft.set("code", `${INTERNAL_ERROR}`);
  if (!hasMessage) draft.set("message", '"the server gave no message"');
  if (draft.get("data") === undefined) draft.set("data", `{"originalError":${error}}`);
  const whole = createDraft(message.raw);
  whole.set("error", draft.text());
  return { ...message, error: draft.text(), raw: readObject(whole.text()) ?? message.raw };
}

function readMalformed(
  text: string,
  malformed: Malformed,
  open: ReadonlyMap<number, unknown>,
  sink: PeerTextSink,
): void {
  const members = membersOfHead(text);
  const claims = members.get("jsonrpc") === '"2.0"';
  // Programs log JSON too, and what they log may have an `id`: only what says that it is JSON-RPC, or
  // has the members of an answer, is one.
  const answers = claims || (members.has("id") && members.has("result"));
  const idText = members.get("id") === "null" ? undefined : members.get("id");
  const id = answers && !members.has("method") ? requestAnswered(idText, open) : undefined;
  if (id === undefined) {
    sink.noise(malformed.reason);
    return;
  }
  const result = members.get("result");
  const sound = claims && malformed.code !== PARSE_ERROR && !members.has("error");
  const raw = sound && idText === undefined && isObjectText(result) ? readObject(text) : undefined;
  if (raw === undefined || result === undefined) sink.spoiled(id, malformed.reason);
  else sink.answer(id, { type: "response", id: String(id), result, raw });
}
