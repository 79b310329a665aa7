import type { Readable, Writable } from "node:stream";
import {
  type Channel,
  type ChannelEnd,
  type ChannelReceiver,
  createLineDecoder,
  DEFAULT_LIMITS,
  type Limits,
} from "../../src/index.js";
import { createLineWriter } from "./line-writer.js";

export interface StdioFrontOptions {
  /** The process's standard input and output when absent. */
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
  readonly limits?: Partial<Pick<Limits, "maxMessageBytes" | "stopGraceMs">> | undefined;
}

/**
 * The client that started this process, as a channel. The end of the input ends it, but what is
 * sent before `close` still goes out: calls in flight may yet be answered. While it is open, text that other code writes to
 * standard output goes to standard error instead, because the output is the protocol's alone
 * (2026-07-28/basic/transports/stdio). Closing waits for the reader as long as `stopGraceMs`, and then
 * drops what is left.
 */
export function createStdioFront(options: StdioFrontOptions = {}): Channel {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stdout;
  const guard = output === process.stdout ? guardStdout() : undefined;
  let receiver: ChannelReceiver | undefined;
  let end: ChannelEnd | undefined;
  let closing: Promise<void> | undefined;

  const finish = (reached: ChannelEnd): void => {
    if (end !== undefined) return;
    end = reached;
    receiver?.closed(reached);
  };
  const writer = createLineWriter({
    stream: output,
    ...(guard === undefined ? {} : { write: guard.write }),
    onBroken: (reason) => finish({ expected: false, detail: `output failed (${reason})` }),
  });
  const decoder = createLineDecoder({
    maxBytes: limits.maxMessageBytes,
    onLine: (text) => {
      if (end === undefined) receiver?.message(text);
    },
    onDropped: (reason, head) => {
      if (end === undefined) receiver?.dropped(reason, head);
    },
  });
  const ended = (): void => {
    decoder.end();
    finish({ expected: false, detail: "end of input", halfOpen: true });
  };
  input.on("error", (error) =>
    finish({ expected: false, detail: `input failed (${error.message})` }),
  );

  return {
    start(to) {
      receiver = to;
      if (end !== undefined) {
        const reached = end;
        queueMicrotask(() => to.closed(reached));
        return;
      }
      input.on("data", (chunk: Uint8Array) => decoder.push(chunk));
      input.once("end", ended);
      input.once("close", ended);
    },
    send(text) {
      if (closing === undefined) writer.write(text);
    },
    get backlog() {
      return writer.backlog;
    },
    close() {
      closing ??= (async () => {
        const patience = new Promise<"unread">((resolve) => {
          setTimeout(() => resolve("unread"), limits.stopGraceMs).unref();
        });
        input.pause();
        const left = await Promise.race([writer.flush(), patience]);
        // What nobody takes would keep the process from its end.
        if (left === "unread") output.destroy();
        finish({ expected: true, detail: "closed by this side" });
        input.destroy();
        guard?.release();
      })();
      return closing;
    },
  };
}

/** Takes standard output for one writer and sends everyone else's text to standard error. */
function guardStdout() {
  const { stdout, stderr } = process;
  const original = stdout.write;
  const write = original.bind(stdout) as (text: string, done: () => void) => void;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return {
    write,
    release: (): void => {
      stdout.write = original;
    },
  };
}
