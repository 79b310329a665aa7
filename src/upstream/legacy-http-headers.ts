import type { HttpHeaders } from "../ports/http.js";
import { operatorHeaders } from "./operator-headers.js";

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The headers of one conversation over Streamable HTTP, revisions 2025-03-26 to 2025-11-25: what the
 * operator configured, and over it what the handshake taught.
 */
export interface LegacyHttpHeaders {
  readonly sessionId: string | undefined;
  /** Takes the session id the server assigned; false when it has characters no header may have. */
  adoptSession(id: string): boolean;
  adoptRevision(revision: string): void;
  /** For a message; the same object until something changes. */
  forPost(): HttpHeaders;
  /** For a stream; an empty id takes up nothing. */
  forGet(lastEventId: string): HttpHeaders;
  forDelete(): HttpHeaders;
}

export function createLegacyHttpHeaders(configured: () => HttpHeaders): LegacyHttpHeaders {
  let sessionId: string | undefined;
  let revision: string | undefined;
  let postOf: HttpHeaders | undefined;
  let post: HttpHeaders | undefined;

  const base = (from: HttpHeaders): Record<string, string> => {
    const headers: Record<string, string> = { ...operatorHeaders(from) };
    if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
    if (revision !== undefined) headers["mcp-protocol-version"] = revision;
    return headers;
  };

  return {
    get sessionId() {
      return sessionId;
    },
    adoptSession(id) {
      if (!VISIBLE_ASCII.test(id)) return false;
      sessionId = id;
      post = undefined;
      return true;
    },
    adoptRevision(adopted) {
      revision = adopted;
      post = undefined;
    },
    forPost() {
      const from = configured();
      if (post === undefined || postOf !== from) {
        postOf = from;
        const headers = base(from);
        headers["content-type"] = "application/json";
        headers["accept"] = "application/json, text/event-stream";
        post = headers;
      }
      return post;
    },
    forGet(lastEventId) {
      const headers = base(configured());
      headers["accept"] = "text/event-stream";
      if (lastEventId !== "") headers["last-event-id"] = lastEventId;
      return headers;
    },
    forDelete: () => base(configured()),
  };
}
