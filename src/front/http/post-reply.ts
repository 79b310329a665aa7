import type { Challenge } from "../../errors.js";
import type { JsonText } from "../../jsonrpc/json-text.js";
import type { Limits } from "../../model/limits.js";
import type { Stop } from "../../ports/clock.js";
import type { HttpReply } from "../../ports/http.js";
import { batchText } from "../../wire/legacy/batch.js";
import type { CallOutlet } from "../call-outlet.js";
import { errorHeaders } from "./error-reply.js";
import { type EventConnectionDeps, openEventConnection } from "./event-connection.js";
import type { EventLog, LoggedStream } from "./event-log.js";

export interface PostReplyDeps extends EventConnectionDeps {
  readonly limits: Limits;
}

export interface PostReplyOptions {
  readonly reply: HttpReply;
  readonly gone: AbortSignal;
  readonly log: EventLog;
  /** Requests in the body; a batch is answered as an array where nothing streams. */
  readonly requests: number;
  readonly batch: boolean;
  /** The client takes event streams. */
  readonly streams: boolean;
  /** Open the stream at once: the server may ask, and the client must be able to come back. */
  readonly eager: boolean;
  /** The client understands an event without data (2025-11-25/basic/transports). */
  readonly primes: boolean;
}

/**
 * The response to a POST of requests: JSON when the answers come before anything else, else an event
 * stream that is logged, so that a client that is cut off reads on later. Losing the client cancels
 * nothing.
 */
export function createPostReply(deps: PostReplyDeps, options: PostReplyOptions): CallOutlet {
  const { clock, limits } = deps;
  const { reply, gone, log } = options;
  const answers: JsonText[] = [];
  const challenges: Challenge[] = [];
  let open = options.requests;
  let stream: LoggedStream | undefined;
  let stopTimer: Stop = () => {};

  const commit = (): LoggedStream | undefined => {
    // Without an event id the client cannot come back for a stream it never saw.
    if (stream !== undefined || !options.streams || gone.aborted) return stream;
    stopTimer();
    const opened = log.open("call");
    const connection = openEventConnection(deps, reply, gone, () => opened.detach(connection));
    if (options.primes) connection.prime(opened.placeId, limits.resumePauseMs);
    opened.attach(connection, "unseen");
    for (const answer of answers) opened.write(answer);
    stream = opened;
    return opened;
  };

  const finish = (): void => {
    stopTimer();
    if (stream !== undefined) stream.finish();
    else if (gone.aborted) return;
    else if (answers.length === 0) finishWithout();
    else {
      const refusal = challenges.length === answers.length ? challenges[0] : undefined;
      const text = options.batch ? batchText(answers) : (answers[0] ?? "");
      reply.send(refusal?.status ?? 200, errorHeaders(refusal), text);
    }
  };

  /** A request that gets no answer ends as a stream that brings none. */
  const finishWithout = (): void => {
    if (options.streams) commit()?.finish();
    else reply.send(202, {}, "");
  };

  const settle = (): void => {
    open -= 1;
    if (open === 0) finish();
  };

  if (options.eager) commit();
  else if (options.streams) {
    stopTimer = clock.after(options.primes ? limits.primeMs : limits.commitMs, commit);
  }

  return {
    send: (text) => commit()?.write(text),
    answer(text, challenge) {
      if (stream !== undefined) stream.write(text);
      else answers.push(text);
      if (challenge !== undefined) challenges.push(challenge);
      settle();
    },
    abandon: settle,
  };
}
