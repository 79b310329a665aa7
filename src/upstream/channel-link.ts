import type { JsonText } from "../jsonrpc/json-text.js";
import { callText } from "../jsonrpc/message.js";
import type { Limits } from "../model/limits.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Channel } from "../ports/channel.js";
import type { Journal } from "../ports/journal.js";
import { CANCELLED, cancelledParams } from "../translation/cancellation.js";
import type { Link, LinkLoss, LinkReceiver } from "./link.js";
import { type PeerTextSink, readPeerText, requestInHead } from "./peer-text.js";

export interface ChannelLinkOptions {
  readonly channel: Channel;
  /** The server's name, for the journal. */
  readonly name: string;
  readonly journal: Journal;
  readonly limits: Pick<Limits, "maxBacklogBytes">;
}

export interface ChannelLink extends Link {
  /** Stops waiting for an answer without telling the server; a late one is dropped. */
  forsake(id: number): void;
}

const DROPPED = {
  oversized: "the answer is longer than the limit for one message",
  "not-utf8": "the answer is no UTF-8",
  binary: "the answer is binary",
} as const;

/** A program's own output may stand on the same line in front of a message. */
const MESSAGE_START = /\{\s*"(?:jsonrpc|id|method|result|error|params)"\s*:/;

/** How a line begins on which nothing stands in front: `{"`, `{}`, or an array of objects. */
const CLEAN_START = /^[ \t\r\n]*(?:\[\s*)?\{\s*["}]/;

function withoutBanner(text: string): string {
  if (text.startsWith('{"') || CLEAN_START.test(text)) return text;
  const at = text.search(MESSAGE_START);
  return at <= 0 ? text : text.slice(at);
}

/**
 * A conversation over a duplex: a child's pipes, a WebSocket, memory. What the server writes beside its
 * messages is skipped, with one warning for each conversation. Answers to requests that are over are
 * dropped. A request made after the end, or to a server that leaves too much unread, is reported
 * `not-sent`.
 */
export function createChannelLink(options: ChannelLinkOptions): ChannelLink {
  const { channel, name, journal, limits } = options;
  const open = createTurnoverMap<number, string>();
  let receiver: LinkReceiver | undefined;
  let ended: string | undefined;
  let warned = false;

  const skip = (reason: string): void => {
    if (warned) {
      journal.debug("text-skipped", { upstream: name, reason });
      return;
    }
    warned = true;
    journal.warn("text-skipped", { upstream: name, reason, further: "at debug level" });
  };

  const lose = (id: number, loss: LinkLoss): void => {
    if (open.delete(id)) receiver?.lost(id, loss);
  };

  const isDeaf = (): boolean => channel.backlog > limits.maxBacklogBytes;

  const sink: PeerTextSink = {
    call(message) {
      // Who reads nothing reads no answer: keeping more of them would have no end.
      if (message.type === "request" && isDeaf()) skip("its requests cannot be answered");
      else receiver?.message(message, undefined);
    },
    answer(id, message) {
      open.delete(id);
      receiver?.message(message, undefined);
    },
    spoiled: (id, reason) => lose(id, { kind: "invalid", detail: reason }),
    stray: () => journal.debug("late-answer-dropped", { upstream: name }),
    noise: skip,
  };

  return {
    associates: false,
    listens: true,

    start(to) {
      receiver = to;
      channel.start({
        message: (text) => readPeerText(withoutBanner(text), open, sink),
        dropped(reason, head) {
          const id = requestInHead(withoutBanner(head), open);
          if (id === undefined) skip(reason);
          else lose(id, { kind: "invalid", detail: DROPPED[reason] });
        },
        closed(end) {
          ended = end.detail;
          for (const id of [...open.keys()]) lose(id, { kind: "broken", detail: end.detail });
          to.closed(end.detail);
        },
      });
    },

    request({ id, method, text }) {
      open.set(id, method);
      const detail = ended ?? (isDeaf() ? "it does not read what it is sent" : undefined);
      if (detail === undefined) channel.send(text);
      else queueMicrotask(() => lose(id, { kind: "not-sent", detail }));
    },

    send(text: JsonText) {
      channel.send(text);
    },

    cancel(id, reason, words) {
      const method = open.get(id);
      // `initialize` must not be cancelled (2025-11-25/basic/utilities/cancellation).
      if (open.delete(id) && method !== "initialize") {
        const params = cancelledParams(id, reason);
        channel.send(words ?? callText(undefined, CANCELLED, params));
      }
    },

    forsake(id) {
      open.delete(id);
    },

    established: () => Promise.resolve(),
    close: () => channel.close(),
  };
}
