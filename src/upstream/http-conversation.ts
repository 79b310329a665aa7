import type { SseEvent } from "../framing/sse.js";
import type { Limits } from "../model/limits.js";
import type { Clock } from "../ports/clock.js";
import type { HttpExchange, HttpHeaders } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import type { LegacyHttpHeaders } from "./legacy-http-headers.js";

/** What everything that speaks to one URL in one conversation shares. */
export interface HttpConversation {
  readonly url: string;
  /** The server's name, for the journal. */
  readonly name: string;
  readonly exchange: HttpExchange;
  readonly headers: LegacyHttpHeaders;
  readonly relaysChallenges?: boolean | undefined;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly journal: Journal;
}

export function isEventStream(headers: HttpHeaders): boolean {
  return (headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
}

/** Events of other names, and those that only tell where the stream stands, carry no message. */
export function isMessage(event: SseEvent): boolean {
  return event.event === "message" && event.data !== "";
}

/** The value in the line of an event that was dropped. */
export function dataOf(line: string): string {
  return line.startsWith("data:") ? line.slice(5) : line;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Statuses that say nothing but that it does not work at this moment. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** A server that wants to be asked again at once would be asked all the time. */
const SHORTEST_PAUSE_MS = 100;

/** The pause before the nth attempt (from 0) to take up a stream again; the server's own wish counts. */
export function resumePause(limits: Limits, attempt: number, retryMs: number | undefined): number {
  if (attempt === 0 && retryMs !== undefined) return Math.max(retryMs, SHORTEST_PAUSE_MS);
  const backOff = Math.min(limits.resumePauseMs * 2 ** attempt, limits.resumePauseMaxMs);
  return Math.max(backOff, retryMs ?? 0);
}
