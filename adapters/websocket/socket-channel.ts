import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { type Channel, type ChannelReceiver, type Limits, onOneLine } from "../../src/index.js";

export type SocketLimits = Pick<Limits, "maxMessageBytes" | "stopGraceMs" | "heartbeatMs">;

/** What `ws` is told about every socket, on either side. */
export function toSocketOptions(limits: SocketLimits) {
  // Compression costs memory per connection and buys little on a local hop.
  return { maxPayload: limits.maxMessageBytes, perMessageDeflate: false } as const;
}

/**
 * An open WebSocket as a channel, one text frame a message. A binary frame closes it with 1003, a
 * message over the limit with 1009. A peer that neither sends nor takes anything for `heartbeatMs` is
 * pinged, and cut after as long again. `stream` is the connection below.
 */
export function createSocketChannel(
  socket: WebSocket,
  stream: Socket,
  limits: SocketLimits,
): Channel {
  let receiver: ChannelReceiver | undefined;
  let inbox: ((to: ChannelReceiver) => void)[] = [];
  let cause: string | undefined;
  let closing = false;
  const gone = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });

  const tell = (step: (to: ChannelReceiver) => void): void => {
    if (receiver === undefined) inbox.push(step);
    else step(receiver);
  };
  const heartbeat = startHeartbeat(socket, stream, limits.heartbeatMs, () => {
    cause ??= "no sign of life";
  });

  // Frames that are read already come all the same, and wait in the inbox.
  socket.pause();
  socket.on("message", (data, isBinary) => {
    if (!isBinary) {
      const text = data.toString();
      tell((to) => to.message(text));
      return;
    }
    cause ??= "the peer sent a binary frame";
    tell((to) => to.dropped("binary", ""));
    socket.close(1003, "text frames only");
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    cause ??=
      error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH"
        ? `the peer sent a message of more than ${limits.maxMessageBytes} bytes`
        : error.message;
  });
  socket.once("close", (code, reason) => {
    clearInterval(heartbeat);
    const words = reason.length === 0 ? "" : ` ${JSON.stringify(reason.toString())}`;
    const detail = closing ? "closed by this side" : (cause ?? `close code ${code}${words}`);
    tell((to) => to.closed({ expected: closing, detail }));
  });

  return {
    start(to) {
      const waiting = inbox;
      inbox = [];
      receiver = to;
      queueMicrotask(() => {
        for (const step of waiting) step(to);
        socket.resume();
      });
    },
    send(text) {
      if (socket.readyState === WebSocket.OPEN) socket.send(onOneLine(text));
    },
    get backlog() {
      return socket.bufferedAmount;
    },
    async close() {
      if (socket.readyState === WebSocket.OPEN) closing = true;
      socket.resume();
      socket.close(1000);
      const impatience = setTimeout(() => socket.terminate(), limits.stopGraceMs);
      await gone;
      clearTimeout(impatience);
    },
  };
}

/** A connection can be dead without an end: only traffic proves that somebody is there. */
function startHeartbeat(
  socket: WebSocket,
  stream: Socket,
  everyMs: number,
  onSilence: () => void,
): NodeJS.Timeout {
  let lastRead = -1;
  let lastBacklog = 0;
  let asked = false;
  const timer = setInterval(() => {
    const alive = stream.bytesRead !== lastRead || socket.bufferedAmount < lastBacklog;
    lastRead = stream.bytesRead;
    lastBacklog = socket.bufferedAmount;
    if (alive || stream.isPaused()) asked = false;
    else if (asked) {
      onSilence();
      socket.terminate();
    } else if (socket.readyState === WebSocket.OPEN) {
      asked = true;
      socket.ping();
    }
  }, everyMs);
  return timer.unref();
}
