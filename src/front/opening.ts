import { INVALID_REQUEST, PARSE_ERROR } from "../jsonrpc/error-codes.js";
import {
  type BatchMessage,
  errorText,
  type Message,
  parseMessage,
  type RequestId,
} from "../jsonrpc/message.js";
import type { Era } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import { wireError } from "../model/wire-error.js";
import type { Channel, ChannelEnd } from "../ports/channel.js";
import type { Journal } from "../ports/journal.js";
import { eraOf } from "../wire/classify.js";
import { hasEnvelope, readMeta } from "../wire/modern/envelope.js";
import type { ChannelFront, ChannelOutlet, StartChannelFront } from "./channel-front.js";
import { readOversizedHead } from "./oversized-head.js";

export interface OpeningOptions {
  readonly channel: Channel;
  /** Undefined: this channel speaks only the legacy era. */
  readonly modern: StartChannelFront | undefined;
  /** Undefined: this channel speaks only the modern era. */
  readonly legacy: StartChannelFront | undefined;
  readonly limits: Limits;
  readonly journal: Journal;
  /** Calls in flight may finish within this after the end of input, where the client can still read. */
  readonly endGraceMs: number;
}

export interface ServedChannel {
  /** Resolves when the conversation is over and the channel closed. */
  readonly finished: Promise<void>;
  /**
   * Ends the conversation from our side; calls in flight may finish within `graceMs`. A second call
   * may shorten that.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves one client on a channel and finds out which era it speaks
 * (2026-07-28/basic/versioning, "Backward Compatibility"). A modern request makes the conversation
 * modern, `initialize` makes it legacy; `server/discover` alone decides nothing, since clients of both
 * eras ask it first and may not wait for the answer.
 */
export function serveChannel(options: OpeningOptions): ServedChannel {
  const { channel, limits, journal } = options;
  const fronts = new Map<Era, ChannelFront>();
  let pinned: Era | undefined;
  let closing: Promise<void> | undefined;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });

  if (options.legacy === undefined) pinned = "modern";
  else if (options.modern === undefined) pinned = "legacy";

  const outlet: ChannelOutlet = {
    send: (text) => {
      channel.send(text);
      if (channel.backlog <= limits.maxBacklogBytes || closing !== undefined) return;
      journal.warn("slow-reader-cut", { backlogBytes: channel.backlog });
      void close(0);
    },
  };

  const close = (graceMs: number): Promise<void> => {
    const idle = Promise.all([...fronts.values()].map((front) => front.finish(graceMs)));
    closing ??= idle.then(() => channel.close()).finally(finish);
    return closing;
  };

  const frontOf = (era: Era): ChannelFront | undefined => {
    const known = fronts.get(era);
    if (known !== undefined) return known;
    const start = era === "modern" ? options.modern : options.legacy;
    const front = start?.(outlet);
    if (front !== undefined) fronts.set(era, front);
    return front;
  };

  const pin = (era: Era): void => {
    pinned = era;
    journal.debug("front-era", { era });
  };

  const dispatch = (message: Message | BatchMessage): void => {
    if (pinned !== undefined) frontOf(pinned)?.message(message);
    else if (message.type === "request") {
      const era = eraOf(message, hasEnvelope(readMeta(message.params).meta), NO_HINTS);
      if (message.method === "initialize") pin(era);
      else if (era === "modern" && message.method !== "server/discover") pin(era);
      frontOf(era)?.message(message);
    } else if (message.type === "batch") {
      refuse(undefined, INVALID_REQUEST, "a conversation does not begin with a batch");
    } else {
      // Nothing but probes was asked so far: whatever this belongs to, it starts no front.
      for (const front of fronts.values()) front.message(message);
    }
  };

  const refuse = (id: RequestId | undefined, code: number, reason: string): void =>
    outlet.send(errorText(id, wireError(code, reason).text));

  channel.start({
    message: (text) => {
      const message = parseMessage(text);
      if (message.type === "malformed") refuse(message.id, message.code, message.reason);
      else dispatch(message);
    },
    dropped: (reason, head) => {
      journal.warn("message-dropped", { reason });
      if (reason !== "oversized") refuse(undefined, PARSE_ERROR, `the message is ${reason}`);
      else {
        const id = readOversizedHead(head);
        refuse(id, INVALID_REQUEST, `the message is longer than ${limits.maxMessageBytes} bytes`);
      }
    },
    closed: (end: ChannelEnd) => {
      if (!end.expected) journal.debug("front-channel-ended", { detail: end.detail });
      // Where nobody reads, nobody waits for an answer.
      void close(end.halfOpen === true ? options.endGraceMs : 0);
    },
  });

  return { finished, close };
}

const NO_HINTS = { revision: undefined, hasSession: false };
