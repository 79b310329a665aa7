import type { BatchMessage, Message } from "../jsonrpc/message.js";

/** Where a channel's front writes. */
export interface ChannelOutlet {
  /** Sends one message; dropped silently when the channel is gone. */
  send(text: string): void;
}

/** One era's side of a conversation on a channel. */
export interface ChannelFront {
  message(message: Message | BatchMessage): void;
  /**
   * The client sends nothing more, or the bridge stops. What is in flight may finish within `graceMs`
   * and is aborted then; standing subscriptions end at once. Resolves when nothing is left to write. May
   * be called again with a shorter time.
   */
  finish(graceMs: number): Promise<void>;
}

export type StartChannelFront = (outlet: ChannelOutlet) => ChannelFront;
