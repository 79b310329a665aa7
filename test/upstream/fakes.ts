import type { ChannelEnd, ChannelReceiver, Journal } from "../../src/index.js";
import type { Message } from "../../src/jsonrpc/message.js";
import type { Channel } from "../../src/ports/channel.js";
import type { LinkLoss, LinkReceiver } from "../../src/upstream/link.js";

/** A channel whose peer is the test. */
export interface FakeChannel extends Channel {
  readonly sent: readonly string[];
  readonly closes: number;
  says(...texts: readonly string[]): void;
  drops(reason: "oversized" | "not-utf8" | "binary", head: string): void;
  ends(detail: string, expected?: boolean): void;
}

export function createFakeChannel(): FakeChannel {
  const sent: string[] = [];
  let receiver: ChannelReceiver | undefined;
  let closes = 0;
  let end: ChannelEnd | undefined;
  const finish = (detail: string, expected: boolean): void => {
    if (end !== undefined) return;
    end = { detail, expected };
    receiver?.closed(end);
  };
  return {
    sent,
    backlog: 0,
    get closes() {
      return closes;
    },
    start(to) {
      receiver = to;
    },
    send(text) {
      if (end === undefined) sent.push(text);
    },
    async close() {
      closes += 1;
      finish("closed by this side", true);
    },
    says(...texts) {
      for (const text of texts) receiver?.message(text);
    },
    drops: (reason, head) => receiver?.dropped(reason, head),
    ends: (detail, expected = false) => finish(detail, expected),
  };
}

/** What a link told, in order, one line each. */
export interface Recorder extends LinkReceiver {
  readonly log: readonly string[];
}

function describeMessage(message: Message): string {
  switch (message.type) {
    case "request":
      return `request ${message.id} ${message.method}`;
    case "notification":
      return `notification ${message.method}`;
    case "response":
      return `response ${message.id} ${message.result}`;
    case "error":
      return `error ${message.id ?? "null"} ${message.error}`;
  }
}

export function describeLoss(loss: LinkLoss): string {
  return loss.status === undefined ? loss.kind : `${loss.kind} ${loss.status}`;
}

export function createRecorder(): Recorder {
  const log: string[] = [];
  return {
    log,
    message(message, origin) {
      log.push(describeMessage(message) + (origin === undefined ? "" : ` @${origin}`));
    },
    lost: (id, loss) => log.push(`lost ${id} ${describeLoss(loss)}: ${loss.detail}`),
    closed: (detail) => log.push(`closed: ${detail}`),
  };
}

/** A journal that keeps `level event`, for counting. */
export function createRecordingJournal(): Journal & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const at = (level: string) => (event: string) => {
    lines.push(`${level} ${event}`);
  };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export function requestText(id: number, method: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
}
