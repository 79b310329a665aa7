import type { Writable } from "node:stream";
import { onOneLine } from "../../src/index.js";

export interface LineWriter {
  /** Queues a text as one line; what is queued in one turn goes out in one write. */
  write(text: string): void;
  /** Bytes the reader has not taken yet. */
  readonly backlog: number;
  /** Resolves when all of it is taken, or never will be. */
  flush(): Promise<void>;
}

/**
 * Writes lines to a stream whose reader may go away at any time: that is reported once and never
 * thrown, and later lines are dropped.
 */
export function createLineWriter(deps: {
  readonly stream: Writable;
  readonly write?: (text: string, done: () => void) => void;
  readonly onBroken: (reason: string) => void;
}): LineWriter {
  const { stream } = deps;
  const write = deps.write ?? ((text, done) => stream.write(text, done));
  let queued = "";
  let scheduled = false;
  let broken = false;

  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (broken) return;
    broken = true;
    queued = "";
    deps.onBroken(error.code ?? error.message);
  });
  const pass = (done: () => void): void => {
    scheduled = false;
    const lines = queued;
    queued = "";
    if (broken || stream.destroyed || stream.writableEnded) done();
    else write(lines, done);
  };

  return {
    write(text) {
      if (broken || stream.destroyed || stream.writableEnded) return;
      queued += `${onOneLine(text)}\n`;
      if (scheduled) return;
      scheduled = true;
      process.nextTick(() => {
        if (queued !== "") pass(() => undefined);
      });
    },
    get backlog() {
      return queued.length + (broken ? 0 : stream.writableLength);
    },
    flush: () =>
      new Promise((resolve) => {
        stream.once("close", resolve);
        pass(() => {
          stream.off("close", resolve);
          resolve();
        });
      }),
  };
}
