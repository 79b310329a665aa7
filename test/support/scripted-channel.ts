import type { Channel, ChannelReceiver } from "../../src/index.js";

/** The far end of a channel, played by a test. */
export interface ScriptedChannel {
  readonly channel: Channel;
  /** What was sent to the far end, in order. */
  readonly sent: string[];
  say(text: string): void;
  drop(reason: "oversized" | "not-utf8" | "binary", head: string): void;
  /** The far end sends nothing more; it still reads. */
  endInput(): void;
  /** The far end is gone. */
  leave(): void;
  /** What the far end has not read; set it to play a slow one. */
  backlog: number;
  readonly closed: boolean;
}

export function createScriptedChannel(): ScriptedChannel {
  const sent: string[] = [];
  let receiver: ChannelReceiver | undefined;
  let closed = false;
  const to = (): ChannelReceiver => {
    if (receiver === undefined) throw new Error("the channel was not started");
    return receiver;
  };
  const scripted = {
    sent,
    backlog: 0,
    channel: {
      start: (started: ChannelReceiver) => {
        if (receiver !== undefined) throw new Error("the channel was started twice");
        receiver = started;
      },
      send: (text: string) => {
        if (!closed) sent.push(text);
      },
      get backlog() {
        return scripted.backlog;
      },
      close: () => {
        closed = true;
        return Promise.resolve();
      },
    },
    say: (text: string) => to().message(text),
    drop: (reason: "oversized" | "not-utf8" | "binary", head: string) => to().dropped(reason, head),
    endInput: () => to().closed({ expected: false, detail: "end of input", halfOpen: true }),
    leave: () => to().closed({ expected: false, detail: "gone" }),
    get closed() {
      return closed;
    },
  };
  return scripted;
}
