import { asNumber, asString } from "../jsonrpc/json-text.js";
import type { RequestId } from "../jsonrpc/message.js";

/** Equal for ids that are the same value, however they are spelled; `1` and `"1"` are two. */
export function requestKey(id: RequestId): string {
  const string = asString(id);
  if (string !== undefined) return `"${string}`;
  const number = asNumber(id);
  return number !== undefined && Number.isSafeInteger(number) ? String(number) : id;
}
