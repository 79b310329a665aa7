import { INVALID_REQUEST } from "../jsonrpc/error-codes.js";
import { asString } from "../jsonrpc/json-text.js";
import {
  errorText,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { MODERN_REVISIONS } from "../model/era.js";
import { createTurnoverMap } from "../model/turnover.js";
import { type WireError, wireError } from "../model/wire-error.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import {
  hasEnvelope,
  type MetaSpans,
  readMeta,
  unsupportedRevision,
} from "../wire/modern/envelope.js";
import type { ChannelFront, ChannelOutlet } from "./channel-front.js";
import type { ModernFront } from "./modern-front.js";
import type { ModernReply } from "./modern-reply.js";
import { offerFault, readModernRequest, type Sender, toCaller } from "./modern-request.js";
import { requestKey } from "./request-key.js";

export interface ModernChannelDeps {
  readonly front: ModernFront;
  /** Who sits at the other end. */
  readonly sender: Sender;
  readonly clock: Clock;
  readonly journal: Journal;
}

interface OpenRequest {
  readonly controller: AbortController;
  /** Ends a subscription gracefully. */
  end: (() => void) | undefined;
}

/**
 * The modern era on one pipe for all requests: stdio, WebSocket (2026-07-28/basic/transports/stdio).
 * Writes responses and notifications, never a request.
 */
export function createModernChannelFront(
  { front, sender, clock, journal }: ModernChannelDeps,
  outlet: ChannelOutlet,
): ChannelFront {
  const open = createTurnoverMap<string, OpenRequest>();
  const whenIdle: (() => void)[] = [];
  let ending = false;

  const sendError = (id: RequestId | undefined, error: WireError): void =>
    outlet.send(errorText(id, error.text));

  const settleIfIdle = (): void => {
    if (open.size === 0) for (const settle of whenIdle.splice(0)) settle();
  };

  const forget = (key: string): void => {
    open.delete(key);
    settleIfIdle();
  };

  const request = (message: RequestMessage): void => {
    const spans = readMeta(message.params);
    if (message.method === "initialize" && !hasEnvelope(spans.meta)) {
      const requested = asString(memberAt(message.params, "protocolVersion")) ?? null;
      sendError(message.id, unsupportedRevision(requested, MODERN_REVISIONS).error);
      return;
    }
    if (!ending) serve(message, spans);
    else sendError(message.id, wireError(INVALID_REQUEST, "the conversation is ending"));
  };

  const serve = (message: RequestMessage, spans: MetaSpans): void => {
    const reading = readModernRequest(message, spans);
    const fault = "type" in reading ? reading : offerFault(reading, front.offer);
    const key = requestKey(message.id);
    if (fault !== undefined) sendError(message.id, fault.error);
    else if (open.has(key)) {
      sendError(message.id, wireError(INVALID_REQUEST, "a request with this id is in flight"));
    } else if (!("type" in reading)) {
      const controller = new AbortController();
      const { signal } = controller;
      const entry: OpenRequest = { controller, end: undefined };
      open.set(key, entry);
      const caller = toCaller(reading.envelope, sender);
      entry.end = front.serve({ request: reading, caller, reply: replyTo(key), signal });
    }
  };

  const replyTo = (key: string): ModernReply => {
    const answer = (text: string): void => {
      outlet.send(text);
      forget(key);
    };
    return { shared: true, notice: outlet.send, result: answer, failed: answer };
  };

  const cancel = (message: NotificationMessage): void => {
    const id = memberAt(message.params, "requestId");
    const key = id === undefined ? undefined : requestKey(id);
    const cancelled = key === undefined ? undefined : open.get(key);
    if (key === undefined || cancelled === undefined) return;
    cancelled.controller.abort();
    forget(key);
  };

  const abortAll = (): void => {
    for (const { controller } of open.values()) controller.abort();
    open.clear();
    settleIfIdle();
  };

  return {
    message: (message) => {
      switch (message.type) {
        case "request":
          request(message);
          return;
        case "notification":
          if (message.method === "notifications/cancelled") cancel(message);
          else front.notify(message, sender);
          return;
        case "batch":
          sendError(undefined, wireError(INVALID_REQUEST, "this revision has no batches"));
          return;
        case "response":
        case "error":
          journal.debug("client-response-dropped", {});
      }
    },
    finish: (graceMs) =>
      new Promise((resolve) => {
        ending = true;
        for (const { end } of [...open.values()]) end?.();
        const stop = graceMs > 0 ? clock.after(graceMs, abortAll) : undefined;
        whenIdle.push(() => {
          stop?.();
          resolve();
        });
        if (graceMs > 0) settleIfIdle();
        else abortAll();
      }),
  };
}
