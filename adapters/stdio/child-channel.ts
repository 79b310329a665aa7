import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Channel,
  type ChannelReceiver,
  createLineDecoder,
  type Limits,
} from "../../src/index.js";
import { createLineWriter } from "./line-writer.js";
import { watchProcessGroup } from "./process-group.js";
import { createStderrTail } from "./stderr-tail.js";

/** How a server process ended. */
export interface ChildExit {
  readonly pid: number;
  /** `exit code 1` or `signal SIGKILL`. */
  readonly status: string;
  /** This side closed it. */
  readonly expected: boolean;
  /** The end of what it wrote to standard error. */
  readonly stderrTail: string;
}

interface ChildChannelDeps {
  readonly limits: Limits;
  readonly onStderr: ((line: string, pid: number) => void) | undefined;
  readonly onExit: ((exit: ChildExit) => void) | undefined;
}

/**
 * A started child's standard input and output as a channel. Whichever of process, input and output
 * ends first, the others follow: the conversation is over, and nobody waits for what cannot come.
 */
export function createChildChannel(child: ChildProcess, deps: ChildChannelDeps): Channel {
  const { limits, onStderr } = deps;
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    throw new TypeError("a child channel needs a started process with three pipes");
  }
  const group = watchProcessGroup(child, pid);
  let receiver: ChannelReceiver | undefined;
  let cause = "";
  let status: string | undefined;
  let outputDone = false;
  let closing = false;
  let reported = false;
  let silence: NodeJS.Timeout | undefined;
  let ending: Promise<void> | undefined;

  const report = (): void => {
    if (reported || receiver === undefined) return;
    reported = true;
    clearTimeout(silence);
    stdout.destroy();
    const reason = status ?? cause;
    const detail = closing ? `closed by this side${reason && ` (${reason})`}` : reason;
    receiver.closed({ expected: closing, detail });
  };
  const settle = (): void => {
    if (receiver === undefined || reported || ending === undefined) return;
    clearTimeout(silence);
    if (outputDone && status !== undefined) report();
    // Without a limit, a grandchild that holds the output open would keep everyone waiting.
    else if (!closing) silence = setTimeout(report, limits.lastWordsMs);
  };
  const over = (reason: string): Promise<void> => {
    cause ||= reason;
    void writer.flush();
    stdin.end();
    ending ??= group.end(limits.stopGraceMs);
    settle();
    return ending;
  };

  const writer = createLineWriter({
    stream: stdin,
    onBroken: () => void over("it closed its input"),
  });
  const decoder = createLineDecoder({
    maxBytes: limits.maxMessageBytes,
    onLine: (text) => {
      if (!reported) receiver?.message(text);
    },
    onDropped: (reason, head) => {
      if (!reported) receiver?.dropped(reason, head);
    },
  });
  const tail = createStderrTail({
    maxBytes: limits.maxStderrTailBytes,
    onLine: onStderr && ((line) => onStderr(line, pid)),
  });

  stdout.on("error", () => undefined);
  stdout.once("end", () => decoder.end());
  stdout.once("close", () => {
    outputDone = true;
    void over("it closed its output");
  });
  stderr.on("error", () => undefined);
  stderr.on("data", (chunk: Buffer) => tail.push(chunk));
  child.once("exit", (code, signal) => {
    status = code === null ? `signal ${signal}` : `exit code ${code}`;
    const exit = { pid, status, expected: closing };
    void over(status);
    void Promise.race([closed(stderr), sleep(limits.lastWordsMs)]).then(() => {
      stderr.destroy();
      tail.end();
      deps.onExit?.({ ...exit, stderrTail: tail.text() });
    });
  });

  return {
    start(to) {
      receiver = to;
      stdout.on("data", (chunk: Buffer) => {
        decoder.push(chunk);
        settle();
      });
      settle();
    },
    send(text) {
      if (!closing) writer.write(text);
    },
    get backlog() {
      return writer.backlog;
    },
    async close() {
      closing = true;
      await over("");
      report();
      stdout.destroy();
    },
  };
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once("close", resolve);
  });
}
