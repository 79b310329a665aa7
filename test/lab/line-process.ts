import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type Command, LEFTOVER } from "./isolation.js";
import { isObject, type JsonObject } from "./json.js";

export interface Ending {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  /** What it took: the end of its input, a signal, or nothing because it ended by itself. */
  readonly by: "itself" | "end of input" | "SIGTERM" | "SIGKILL";
  readonly ms: number;
  /** Programs it left running. Known only where processes are isolated. */
  readonly leftovers: readonly string[];
}

/** A process that reads and writes one JSON message a line. */
export interface LineProcess {
  send(message: JsonObject): void;
  /** Resolves when its output has ended. */
  readonly ended: Promise<void>;
  /** Lines that are no JSON objects. */
  readonly noise: readonly string[];
  /** The end of what it wrote to standard error. */
  complaints(): string;
  /** Ends its input, waits that long, then ends it by force. */
  close(graceMs: number): Promise<Ending>;
}

const KEPT_COMPLAINTS = 4_000;

/** Groups that must not outlive this process, however it ends. */
const running = new Set<() => void>();
process.once("exit", () => {
  for (const kill of running) kill();
});

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, end)]).toString("utf8");
      rest = [];
      start = end + 1;
      if (line.trim() !== "") onLine(line);
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  });
  stream.on("end", () => {
    if (rest.length > 0) onLine(Buffer.concat(rest).toString("utf8"));
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Starts an isolated command. At the deadline it and all it started are killed. */
export function startLines(
  { command, args, env }: Command,
  onMessage: (message: JsonObject) => void,
  deadlineMs: number,
): LineProcess {
  // A group of its own: a signal for it is a signal for the whole namespace.
  const child = spawn(command, args, { env, detached: true, stdio: "pipe", cwd: "/" });
  const noise: string[] = [];
  let complaints = "";
  let exit: number | string | undefined;
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  readLines(child.stdout, (line) => {
    const value = parsed(line);
    for (const message of Array.isArray(value) ? value : [value]) {
      if (isObject(message)) onMessage(message);
      else noise.push(line.slice(0, 200));
    }
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-KEPT_COMPLAINTS);
  });
  child.stdin.on("error", () => undefined);
  const killAll = () => kill("SIGKILL");
  running.add(killAll);
  const deadline = setTimeout(killAll, deadlineMs);
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      exit ??= error.message;
      resolve();
    });
    child.once("close", (code, signal) => {
      clearTimeout(deadline);
      running.delete(killAll);
      exit ??= code ?? signal ?? "gone";
      resolve();
    });
  });
  const endsWithin = async (ms: number): Promise<boolean> => {
    const late = new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
    await Promise.race([ended, late]);
    return exit !== undefined;
  };
  const forced = async (graceMs: number): Promise<Ending["by"]> => {
    if (exit !== undefined) return "itself";
    child.stdin.end();
    if (await endsWithin(graceMs)) return "end of input";
    kill("SIGTERM");
    if (await endsWithin(1_000)) return "SIGTERM";
    kill("SIGKILL");
    await endsWithin(3_000);
    return "SIGKILL";
  };
  return {
    ended,
    noise,
    complaints: () => complaints,
    send: (message) => {
      if (exit === undefined && child.stdin.writable)
        child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    close: async (graceMs) => {
      const since = performance.now();
      const by = await forced(graceMs);
      kill("SIGKILL");
      const ms = Math.round(performance.now() - since);
      const last = complaints.split("\n").filter((line) => line.startsWith(LEFTOVER));
      const leftovers = last.map((line) => line.slice(LEFTOVER.length));
      return { code: exit ?? "unknown", by, ms, leftovers };
    },
  };
}
