/** Why a channel ended. `detail` is for logs and error messages: an exit code, a close code. */
export interface ChannelEnd {
  /** True when this side called `close`. */
  readonly expected: boolean;
  readonly detail: string;
  /** True when the peer sends nothing more, but may still read what it is sent. */
  readonly halfOpen?: boolean;
}

/** Takes what arrives on a channel, in order. */
export interface ChannelReceiver {
  /** One whole text as it came; it is not yet checked to be JSON. */
  message(text: string): void;
  /** A text that was dropped, longer than the limit or no UTF-8; `head` is at most its first 1,024 characters. */
  dropped(reason: "oversized" | "not-utf8" | "binary", head: string): void;
  /** The last call of all. */
  closed(end: ChannelEnd): void;
}

/** A duplex of whole messages: stdio, WebSocket, memory. Ordered, reliable until it closes. */
export interface Channel {
  /** Starts delivery; called exactly once. What came before is delivered first. */
  start(receiver: ChannelReceiver): void;
  /** Sends one JSON text on one line. After the end it is dropped silently. */
  send(text: string): void;
  /** Bytes accepted by `send` that the peer has not taken yet. */
  readonly backlog: number;
  /** Resolves when the channel and whatever stands behind it (a child process) is gone. */
  close(): Promise<void>;
}
