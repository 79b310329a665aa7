import { sseComment, sseEvent } from "../../framing/sse.js";
import { onOneLine } from "../../jsonrpc/json-text.js";
import type { Limits } from "../../model/limits.js";
import type { Clock, Stop } from "../../ports/clock.js";
import type { HttpHeaders, HttpReply } from "../../ports/http.js";
import type { Journal } from "../../ports/journal.js";
import type { EventSink } from "./event-log.js";

export interface EventConnectionDeps {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Pick<Limits, "keepAliveMs" | "maxBacklogBytes">;
}

export interface EventConnection extends EventSink {
  /** Tells where the stream stands before its first message, and when to come back after a cut. */
  prime(id: string, retryMs: number): void;
  /** An event without an id, outside any log. */
  named(event: string, data: string): void;
}

const SSE_HEADERS: HttpHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/**
 * One HTTP response that is an event stream. Comments keep it open; a client that does not read is cut
 * off. `onGone` is called once when the client has gone, not when this side ends the stream.
 */
export function openEventConnection(
  { clock, journal, limits }: EventConnectionDeps,
  reply: HttpReply,
  gone: AbortSignal,
  onGone: () => void,
): EventConnection {
  const stream = reply.open(200, SSE_HEADERS);
  let over = false;
  let stop: Stop = () => {};

  const finish = (): boolean => {
    if (over) return false;
    over = true;
    stop();
    gone.removeEventListener("abort", leave);
    return true;
  };

  const leave = (): void => {
    if (finish()) onGone();
  };

  const write = (text: string): void => {
    if (over) return;
    stream.write(text);
    if (stream.backlog <= limits.maxBacklogBytes) return;
    journal.warn("slow-reader-cut", { backlogBytes: stream.backlog });
    stream.destroy();
    leave();
  };

  const keepAlive = (): void => {
    write(sseComment());
    if (!over) stop = clock.after(limits.keepAliveMs, keepAlive);
  };

  stop = clock.after(limits.keepAliveMs, keepAlive);
  gone.addEventListener("abort", leave, { once: true });
  if (gone.aborted) queueMicrotask(leave);

  return {
    event: (id, text) => write(sseEvent({ event: "message", id, data: onOneLine(text) })),
    prime: (id, retry) => write(sseEvent({ id, retry, data: "" })),
    named: (event, data) => write(sseEvent({ event, data: onOneLine(data) })),
    end() {
      if (finish()) stream.end();
    },
  };
}
