import { type JsonText, quote } from "../jsonrpc/json-text.js";
import type { RequestId } from "../jsonrpc/message.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "cancellation",
  feature: "Cancellation and dropped streams",
  modernClient: {
    fate: "translated",
    how: "Closing the response stream (HTTP) or `notifications/cancelled` (stdio, WebSocket) becomes `notifications/cancelled` with the server's own id, in flight and parked. Nothing is sent for the request after it.",
  },
  legacyClient: {
    fate: "translated",
    how: "`notifications/cancelled` closes the modern response stream (HTTP) or is sent on (stdio). A dropped stream is no cancellation: the call goes on and its result waits for `Last-Event-ID`. The end of a session cancels all it has.",
  },
  loss: "A server that ignores the cancellation may still complete the work. A modern client's broken stream cannot be resumed.",
  spec: ["2026-07-28/basic/patterns/cancellation", "2025-11-25/basic/utilities/cancellation"],
  about: ["notifications/cancelled", "cancel", "Last-Event-ID"],
};

export const CANCELLED = "notifications/cancelled";

/** Params of `notifications/cancelled`. */
export function cancelledParams(id: RequestId | number, reason?: string): JsonText {
  const reasonPart = reason === undefined ? "" : `,"reason":${quote(reason)}`;
  return `{"requestId":${id}${reasonPart}}`;
}
