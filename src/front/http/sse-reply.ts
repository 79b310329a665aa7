import { sseComment, sseEvent } from "../../framing/sse.js";
import { type JsonText, onOneLine } from "../../jsonrpc/json-text.js";
import type { Limits } from "../../model/limits.js";
import type { Failed } from "../../model/operation.js";
import type { Clock, Stop } from "../../ports/clock.js";
import type { HttpHeaders, HttpReply, HttpStream } from "../../ports/http.js";
import type { Journal } from "../../ports/journal.js";
import type { ModernReply } from "../modern-reply.js";
import { errorHeaders } from "./error-reply.js";
import { statusOf } from "./status.js";

const JSON_HEADERS: HttpHeaders = { "content-type": "application/json" };
const SSE_HEADERS: HttpHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};
const KEEP_ALIVE = sseComment();

export interface ResponseDeps {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
}

/**
 * A JSON object when the outcome comes before anything else, else an event stream
 * (2026-07-28/basic/transports/streamable-http, "Receiving Messages"). The choice waits as long as it
 * can, for an error has its HTTP status only before the stream; a silent response becomes a stream
 * after `commitMs`, so that comments keep its connection alive.
 */
export function createResponse(
  deps: ResponseDeps,
  reply: HttpReply,
  gone: AbortSignal,
): ModernReply {
  const { clock, journal, limits } = deps;
  let stream: HttpStream | undefined;
  let over = false;
  let stopTimer: Stop;

  const finish = (): void => {
    over = true;
    stopTimer();
  };

  const open = (): HttpStream => {
    if (stream !== undefined) return stream;
    stopTimer();
    stream = reply.open(200, SSE_HEADERS);
    stopTimer = clock.after(limits.keepAliveMs, keepAlive);
    return stream;
  };

  const write = (text: string): void => {
    const target = open();
    target.write(text);
    if (target.backlog <= limits.maxBacklogBytes) return;
    journal.warn("slow-reader-cut", { backlogBytes: target.backlog });
    finish();
    target.destroy();
  };

  const keepAlive = (): void => {
    if (over) return;
    write(KEEP_ALIVE);
    if (!over) stopTimer = clock.after(limits.keepAliveMs, keepAlive);
  };

  const answer = (status: number, text: JsonText, headers = JSON_HEADERS): void => {
    if (over) return;
    finish();
    if (stream === undefined) {
      reply.send(status, headers, text);
      return;
    }
    stream.write(eventText(text));
    stream.end();
  };

  stopTimer = clock.after(limits.commitMs, () => write(KEEP_ALIVE));
  if (gone.aborted) finish();
  else gone.addEventListener("abort", finish);

  return {
    shared: false,
    notice: (text) => {
      if (!over) write(eventText(text));
    },
    result: (text) => answer(200, text),
    failed: (text, failed: Failed) =>
      answer(statusOf(failed), text, errorHeaders(failed.challenge)),
  };
}

/** Not every reader joins several data lines. */
function eventText(text: JsonText): string {
  return sseEvent({ data: onOneLine(text) });
}
