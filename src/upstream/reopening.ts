import { BridgeError } from "../errors.js";
import type { Limits } from "../model/limits.js";
import type { Channel, ChannelEnd } from "../ports/channel.js";
import type { Clock } from "../ports/clock.js";
import type { ChannelTarget } from "../ports/target.js";

/** A server that has run for this long is well: what comes then is a new trouble. */
const HEALTHY_MS = 60_000;

/** A target that is opened again with care. */
export interface ReopeningTarget extends ChannelTarget {
  /** Opens it whatever happened before; the outcome counts all the same. */
  openNow(): Promise<Channel>;
}

/**
 * Keeps a server that crashes from being started in a loop. After a failure the next `open` waits for
 * the pause if it is short, and rejects with the failure if it is not; the pause doubles with every
 * failure up to its maximum and is forgotten after a healthy minute.
 */
export function withPauses(
  target: ChannelTarget,
  { clock, limits }: { readonly clock: Clock; readonly limits: Limits },
): ReopeningTarget {
  let pauseMs = 0;
  let until = 0;
  let last: BridgeError | undefined;

  const failed = (error: BridgeError): void => {
    pauseMs = Math.min(Math.max(limits.restartPauseMs, pauseMs * 2), limits.restartPauseMaxMs);
    until = clock.now() + pauseMs;
    last = error;
  };

  const openNow = async (): Promise<Channel> => {
    let channel: Channel;
    try {
      channel = await target.open();
    } catch (error) {
      failed(toUnavailable(error, target.name));
      throw error;
    }
    const openedAt = clock.now();
    return watched(channel, (end) => {
      if (clock.now() - openedAt >= HEALTHY_MS) pauseMs = 0;
      if (end.expected) return;
      failed(new BridgeError("upstream-unavailable", `${target.name} ended: ${end.detail}`));
    });
  };

  return {
    type: "channel",
    name: target.name,
    spawns: target.spawns,
    openNow,
    async open() {
      const left = until - clock.now();
      if (last !== undefined && left > 2 * limits.restartPauseMs) {
        throw new BridgeError(last.code, last.message, {
          cause: last,
          data: { ...last.data, retryAfterMs: left },
        });
      }
      if (left > 0) await new Promise<void>((resolve) => clock.after(left, resolve));
      return openNow();
    },
  };
}

function toUnavailable(error: unknown, name: string): BridgeError {
  if (error instanceof BridgeError) return error;
  return new BridgeError("upstream-unavailable", `${name} cannot be started`, { cause: error });
}

function watched(channel: Channel, ended: (end: ChannelEnd) => void): Channel {
  return {
    get backlog() {
      return channel.backlog;
    },
    start(receiver) {
      channel.start({
        message: (text) => receiver.message(text),
        dropped: (reason, head) => receiver.dropped(reason, head),
        closed(end) {
          ended(end);
          receiver.closed(end);
        },
      });
    },
    send: (text) => channel.send(text),
    close: () => channel.close(),
  };
}
