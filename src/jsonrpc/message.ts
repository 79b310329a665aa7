import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR } from "./error-codes.js";
import { asString, isArrayText, isObjectText, type JsonText, quote } from "./json-text.js";
import { memberOf, parseObject, type RawObject } from "./raw-object.js";
import { JsonSyntaxError } from "./scan.js";
import { elementsOf } from "./skip.js";

/** A request id as it came: the text of a string or a number, so that `1`, `1.0` and `"1"` differ. */
export type RequestId = JsonText;

export interface RequestMessage {
  readonly type: "request";
  readonly id: RequestId;
  readonly method: string;
  /** The text of an object, or undefined when the member is absent. */
  readonly params: JsonText | undefined;
  readonly raw: RawObject;
}

export interface NotificationMessage {
  readonly type: "notification";
  readonly method: string;
  readonly params: JsonText | undefined;
  readonly raw: RawObject;
}

export interface ResponseMessage {
  readonly type: "response";
  readonly id: RequestId;
  readonly result: JsonText;
  readonly raw: RawObject;
}

export interface ErrorMessage {
  readonly type: "error";
  /** Undefined when the peer could not tell which request it answers (`id` null or absent). */
  readonly id: RequestId | undefined;
  /** The text of the error object. */
  readonly error: JsonText;
  readonly raw: RawObject;
}

/** An array of messages, as revision 2025-03-26 allows; the elements are not yet read. */
export interface BatchMessage {
  readonly type: "batch";
  readonly elements: readonly JsonText[];
}

/** Text that is no message: what to answer, and to which id where one can be told. */
export interface Malformed {
  readonly type: "malformed";
  readonly id: RequestId | undefined;
  readonly code: typeof PARSE_ERROR | typeof INVALID_REQUEST | typeof INVALID_PARAMS;
  readonly reason: string;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage | ErrorMessage;
export type ParsedText = Message | BatchMessage | Malformed;

/** Arrays of more messages are refused: each element costs an answer, however short it is. */
const MAX_BATCH = 1_000;

/**
 * A copy of its own: ids are kept in tables, and a slice would keep the whole message alive it was
 * cut from. Engines slice by reference from 13 characters on; joining and cutting makes new ones.
 */
function detached(text: JsonText): JsonText {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}

function malformed(
  reason: string,
  id?: RequestId,
  code: Malformed["code"] = INVALID_REQUEST,
): Malformed {
  return { type: "malformed", id, code, reason };
}

function isId(text: JsonText): boolean {
  const c = text.charCodeAt(0);
  return c === 0x22 || c === 0x2d || (c >= 0x30 && c <= 0x39);
}

function readCall(raw: RawObject, id: RequestId | undefined, hasId: boolean): Message | Malformed {
  const method = asString(memberOf(raw, "method"));
  if (method === undefined) return malformed("method must be a string", id);
  if (hasId && id === undefined) return malformed("id must be a string or a number");
  const params = memberOf(raw, "params");
  if (isArrayText(params)) return malformed("params must be an object", id, INVALID_PARAMS);
  if (params !== undefined && !isObjectText(params))
    return malformed("params must be an object", id);
  return id === undefined
    ? { type: "notification", method, params, raw }
    : { type: "request", id, method, params, raw };
}

function readAnswer(raw: RawObject, id: RequestId | undefined): Message | Malformed {
  const result = memberOf(raw, "result");
  const error = memberOf(raw, "error");
  if (result !== undefined && error !== undefined) return malformed("both result and error", id);
  if (error !== undefined) {
    return isObjectText(error)
      ? { type: "error", id, error, raw }
      : malformed("error must be an object", id);
  }
  if (result === undefined) return malformed("neither method, result nor error", id);
  if (id === undefined) return malformed("a result needs the id of its request");
  return { type: "response", id, result, raw };
}

/** Reads one text of the wire. Never throws; what is no message comes back as `malformed`. */
export function parseMessage(text: string): ParsedText {
  let raw: RawObject | undefined;
  try {
    raw = parseObject(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return malformed(error.message, undefined, PARSE_ERROR);
    throw error;
  }
  if (raw === undefined) {
    const trimmed = text.trim();
    if (!isArrayText(trimmed)) return malformed("a message must be an object");
    const elements = elementsOf(trimmed, MAX_BATCH + 1);
    if (elements.length > MAX_BATCH)
      return malformed(`more than ${MAX_BATCH} messages in an array`);
    return elements.length === 0 ? malformed("an empty array") : { type: "batch", elements };
  }
  const idText = memberOf(raw, "id");
  const id = idText !== undefined && isId(idText) ? detached(idText) : undefined;
  if (asString(memberOf(raw, "jsonrpc")) !== "2.0") return malformed('jsonrpc must be "2.0"', id);
  if (memberOf(raw, "method") !== undefined) return readCall(raw, id, idText !== undefined);
  return readAnswer(raw, id);
}

/** The text of a request or, without an id, of a notification. */
export function callText(
  id: RequestId | undefined,
  method: string,
  params: JsonText | undefined,
): JsonText {
  const idPart = id === undefined ? "" : `"id":${id},`;
  const paramsPart = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0",${idPart}"method":${quote(method)}${paramsPart}}`;
}

export function resultText(id: RequestId, result: JsonText): JsonText {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** `id` undefined writes `null`: the sender could not tell which request failed. */
export function errorText(id: RequestId | undefined, error: JsonText): JsonText {
  return `{"jsonrpc":"2.0","id":${id ?? "null"},"error":${error}}`;
}
