import { parseMessage } from "../../src/jsonrpc/message.js";
import type { Link, LinkLoss, LinkReceiver, LinkRequest } from "../../src/upstream/link.js";

/** One conversation with a server that the test plays. */
export interface FakeLink extends Link {
  /** Everything that was sent, in order: requests, notifications, answers. */
  readonly sent: readonly string[];
  /** `cancel id reason` of each cancellation, `established revision`, `closed`. */
  readonly events: readonly string[];
  /** What was sent since the last look. */
  fresh(): string[];
  /** The server says something; `origin` as in `LinkReceiver.message`. */
  says(text: string, origin?: number): void;
  loses(id: number, loss: LinkLoss): void;
  /** The server goes away: what is open is lost. */
  ends(detail?: string): void;
}

export interface FakeLinkOptions {
  /** The link tells with which request a message came. */
  readonly associates?: boolean;
  /** Answers a request at once; undefined leaves it to the test. */
  readonly answer?: (request: LinkRequest) => string | undefined;
}

export function createFakeLink({ associates = true, answer }: FakeLinkOptions = {}): FakeLink {
  const sent: string[] = [];
  const events: string[] = [];
  const open = new Set<number>();
  let receiver: LinkReceiver | undefined;
  let over = false;
  let seen = 0;

  const says = (text: string, origin?: number): void => {
    const message = parseMessage(text);
    if (message.type === "batch" || message.type === "malformed")
      throw new Error(`no message: ${text}`);
    if (message.type === "response" || message.type === "error") open.delete(Number(message.id));
    receiver?.message(message, origin);
  };
  const loses = (id: number, loss: LinkLoss): void => {
    if (open.delete(id)) receiver?.lost(id, loss);
  };
  const ends = (detail = "exit 1"): void => {
    if (over) return;
    over = true;
    for (const id of [...open]) loses(id, { kind: "broken", detail });
    receiver?.closed(detail);
  };

  return {
    sent,
    events,
    associates,
    listens: true,
    fresh() {
      const texts = sent.slice(seen);
      seen = sent.length;
      return texts;
    },
    says,
    loses,
    ends,
    start(to) {
      receiver = to;
    },
    request(request) {
      sent.push(request.text);
      open.add(request.id);
      if (over) queueMicrotask(() => loses(request.id, { kind: "not-sent", detail: "ended" }));
      const text = answer?.(request);
      if (text !== undefined) queueMicrotask(() => says(text, associates ? request.id : undefined));
    },
    send: (text) => void sent.push(text),
    cancel(id, reason, words) {
      events.push(`cancel ${id} ${words ?? reason}`);
      open.delete(id);
    },
    async established(revision) {
      events.push(`established ${revision}`);
    },
    async close() {
      events.push("close");
      ends("closed by the bridge");
    },
  };
}

/** The answer of a server that agrees to a handshake. */
export function agreement(id: number, capabilities = "{}", revision = "2025-11-25"): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"${revision}","capabilities":${capabilities},"serverInfo":{"name":"s","version":"1"}}}`;
}
