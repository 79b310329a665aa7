import { INVALID_REQUEST } from "../jsonrpc/error-codes.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import {
  type BatchMessage,
  errorText,
  type Malformed,
  type Message,
  type RequestMessage,
} from "../jsonrpc/message.js";
import { wireError } from "../model/wire-error.js";
import type { Clock } from "../ports/clock.js";
import { allowsBatches, batchText, readBatch } from "../wire/legacy/batch.js";
import type { CallOutlet } from "./call-outlet.js";
import type { ChannelFront, ChannelOutlet } from "./channel-front.js";
import type { OpenLegacyFront } from "./legacy-session.js";
import type { Sender } from "./modern-request.js";
import { pause } from "./pause.js";

export interface LegacyChannelDeps {
  readonly openFront: OpenLegacyFront;
  readonly clock: Clock;
}

/**
 * A legacy session on one pipe for everything: stdio, WebSocket, the two halves of HTTP+SSE
 * (2025-11-25/basic/transports, "stdio").
 */
export function createLegacyChannelFront(
  deps: LegacyChannelDeps,
  sender: Sender,
  outlet: ChannelOutlet,
): ChannelFront {
  const front = deps.openFront({ sender, aside: outlet.send });
  let ending = false;

  const plain: CallOutlet = { send: outlet.send, answer: outlet.send, abandon: () => {} };

  const request = (message: RequestMessage, to: CallOutlet): void => {
    if (!ending) front.request(message, to, sender);
    else to.answer(refusal(message.id, "the conversation is ending"));
  };

  const take = (message: Message | Malformed, to: CallOutlet): void => {
    switch (message.type) {
      case "request":
        request(message, to);
        return;
      case "notification":
        front.notification(message);
        return;
      case "response":
      case "error":
        front.response(message);
        return;
      case "malformed":
        to.answer(errorText(message.id, wireError(message.code, message.reason).text));
    }
  };

  const batch = ({ elements }: BatchMessage): void => {
    if (!allowsBatches(front.handshake?.revision)) {
      outlet.send(refusal(undefined, "this revision has no batches"));
      return;
    }
    const messages = readBatch(elements);
    const expected = messages.filter(
      ({ type }) => type === "request" || type === "malformed",
    ).length;
    const answers: JsonText[] = [];
    let open = expected;
    const settle = (text?: JsonText): void => {
      if (text !== undefined) answers.push(text);
      open -= 1;
      if (open === 0 && answers.length > 0) outlet.send(batchText(answers));
    };
    const part: CallOutlet = { send: outlet.send, answer: settle, abandon: () => settle() };
    for (const message of messages) take(message, part);
  };

  return {
    message(message) {
      if (message.type === "batch") batch(message);
      else take(message, plain);
    },
    async finish(graceMs) {
      ending = true;
      const over = new AbortController();
      await Promise.race([front.drain(), pause(deps.clock, graceMs, over.signal)]);
      over.abort();
      front.close();
    },
  };
}

function refusal(id: JsonText | undefined, reason: string): JsonText {
  return errorText(id, wireError(INVALID_REQUEST, reason).text);
}
