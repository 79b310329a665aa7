import type { ParsedText } from "../jsonrpc/message.js";
import { type Era, isLegacyRevision } from "../model/era.js";
import { isLegacyMethod } from "./legacy/methods.js";
import {
  MODERN_CLIENT_NOTIFICATIONS,
  MODERN_REQUESTS,
  MODERN_SERVER_NOTIFICATIONS,
} from "./modern/methods.js";

/** Seen from the modern era: it has the method, only the other era has it, or nobody defines it. */
export type Membership = "modern" | "legacy-only" | "unknown";

/** Where a client's request belongs. A method that only servers send counts as foreign too. */
export function requestMembership(method: string): Membership {
  if (MODERN_REQUESTS.has(method)) return "modern";
  const legacy =
    isLegacyMethod("client-request", method) || isLegacyMethod("server-request", method);
  return legacy ? "legacy-only" : "unknown";
}

export function clientNotificationMembership(method: string): Membership {
  if (MODERN_CLIENT_NOTIFICATIONS.has(method)) return "modern";
  return isLegacyNotification(method) ? "legacy-only" : "unknown";
}

export function serverNotificationMembership(method: string): Membership {
  if (MODERN_SERVER_NOTIFICATIONS.has(method)) return "modern";
  return isLegacyNotification(method) ? "legacy-only" : "unknown";
}

function isLegacyNotification(method: string): boolean {
  return (
    isLegacyMethod("client-notification", method) || isLegacyMethod("server-notification", method)
  );
}

/** What the transport knows beside the body; empty on channels, where a conversation is pinned. */
export interface TransportHints {
  /** The header `MCP-Protocol-Version`. */
  readonly revision: string | undefined;
  /** The header `Mcp-Session-Id` came along. */
  readonly hasSession: boolean;
}

/**
 * The era of one message. The body decides: a modern envelope makes it modern whatever the headers
 * say, `initialize` makes it legacy. Only a body that says nothing is judged by its headers: a session
 * is legacy, and so is everything without one that names no modern revision.
 *
 * @param claimsModern the message's `_meta` has a key of the modern envelope
 */
export function eraOf(message: ParsedText, claimsModern: boolean, hints: TransportHints): Era {
  if (claimsModern) return "modern";
  if (message.type === "request" && message.method === "initialize") return "legacy";
  if (hints.hasSession) return "legacy";
  if (message.type === "request" && message.method === "server/discover") return "modern";
  return hints.revision === undefined || isLegacyRevision(hints.revision) ? "legacy" : "modern";
}
