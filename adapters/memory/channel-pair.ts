import type { Channel, ChannelEnd, ChannelReceiver } from "../../src/index.js";
import { onOneLine } from "../../src/index.js";

/** One end of a pair, with the faults a real duplex has. They concern what this end sends. */
export interface PairedChannel extends Channel {
  /** Keeps messages back, as a peer that does not read; they count as backlog. */
  hold(): void;
  /** Lets kept messages go, in order. */
  release(): void;
  /** Loses the next `count` messages. */
  lose(count: number): void;
}

export interface ChannelPair {
  readonly left: PairedChannel;
  readonly right: PairedChannel;
  /** Ends both as a crash does: unexpected, and what is on the way is lost. */
  cut(detail: string): void;
}

export interface ChannelPairOptions {
  /** Sees every text that is sent, in order, before faults apply. */
  readonly tap?: (from: "left" | "right", text: string) => void;
}

/**
 * Two linked channels in one process. Messages arrive in later microtasks, never inside `send`.
 * Closing one end delivers what it sent before, then ends the other.
 */
export function createChannelPair(options: ChannelPairOptions = {}): ChannelPair {
  const left = createEnd((text) => options.tap?.("left", text));
  const right = createEnd((text) => options.tap?.("right", text));
  left.link(right);
  right.link(left);
  return {
    left: left.channel,
    right: right.channel,
    cut(detail) {
      left.cut(detail);
      right.cut(detail);
    },
  };
}

interface End {
  readonly channel: PairedChannel;
  link(peer: End): void;
  arrive(text: string): void;
  finish(end: ChannelEnd): void;
  cut(detail: string): void;
  readonly waiting: number;
}

function createEnd(tap: (text: string) => void): End {
  const inbox: string[] = [];
  const kept: string[] = [];
  let inboxSize = 0;
  let keptSize = 0;
  let toLose = 0;
  let held = false;
  let scheduled = false;
  let receiver: ChannelReceiver | undefined;
  let ending: ChannelEnd | undefined;
  let ended = false;
  let peer: End | undefined;
  const closers: (() => void)[] = [];

  const deliver = (): void => {
    scheduled = false;
    while (receiver !== undefined && inbox.length > 0) {
      const text = inbox.shift() ?? "";
      inboxSize -= text.length;
      receiver.message(text);
    }
    if (ending === undefined) return;
    for (const gone of closers.splice(0)) gone();
    if (receiver === undefined || ended) return;
    ended = true;
    receiver.closed(ending);
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(deliver);
  };
  const finish = (end: ChannelEnd): void => {
    ending ??= end;
    schedule();
  };
  const pass = (): void => {
    for (const text of kept.splice(0)) peer?.arrive(text);
    keptSize = 0;
  };

  return {
    channel: {
      start(to) {
        receiver = to;
        schedule();
      },
      send(text) {
        if (ending !== undefined) return;
        const line = onOneLine(text);
        tap(line);
        if (toLose > 0) {
          toLose -= 1;
          return;
        }
        if (held) {
          kept.push(line);
          keptSize += line.length;
        } else peer?.arrive(line);
      },
      get backlog() {
        return keptSize + (peer?.waiting ?? 0);
      },
      close() {
        if (ending === undefined) {
          pass();
          inbox.length = 0;
          inboxSize = 0;
          ending = { expected: true, detail: "closed by this side" };
          peer?.finish({ expected: false, detail: "closed by the peer" });
        }
        schedule();
        return new Promise((resolve) => closers.push(resolve));
      },
      hold() {
        held = true;
      },
      release() {
        held = false;
        pass();
      },
      lose(count) {
        toLose += count;
      },
    },
    link(other) {
      peer = other;
    },
    arrive(text) {
      if (ending !== undefined) return;
      inbox.push(text);
      inboxSize += text.length;
      schedule();
    },
    finish,
    cut(detail) {
      inbox.length = 0;
      inboxSize = 0;
      kept.length = 0;
      keptSize = 0;
      finish({ expected: false, detail });
    },
    get waiting() {
      return inboxSize;
    },
  };
}
