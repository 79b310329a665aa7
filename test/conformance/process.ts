import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const STOP_GRACE_MS = 3_000;
const PIPE_GRACE_MS = 500;
const TAIL_CHARACTERS = 16_000;
const SHOWN_LINES = 20;

/** A process that this run started. */
export interface StartedProcess {
  /** Resolves with the exit code once it is gone; null after a signal. */
  readonly exited: Promise<number | null>;
  /** The end of what it wrote so far, both streams together. */
  tail(): string;
  /** The first value that `match` finds in a line of stdout; rejects on exit and after `deadlineMs`. */
  firstLine(match: (line: string) => string | undefined, deadlineMs: number): Promise<string>;
  /** SIGTERM, then SIGKILL; with `ownGroup` to everything it started as well. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Lead a process group, so that stop() reaches grandchildren too; false keeps the parent's group. */
  readonly ownGroup: boolean;
}

const groups = new Set<number>();

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nobody of the group is left.
  }
}

process.on("exit", () => {
  for (const leader of groups) signalGroup(leader, "SIGKILL");
});

function kill(child: ChildProcess, ownGroup: boolean, signal: NodeJS.Signals): void {
  if (child.pid !== undefined && ownGroup) signalGroup(child.pid, signal);
  else child.kill(signal);
}

/** Starts a command without a shell; stdin is closed. */
export function startProcess(command: readonly string[], options: ProcessOptions): StartedProcess {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    detached: options.ownGroup,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  if (options.ownGroup && child.pid !== undefined) groups.add(child.pid);

  let written = "";
  const keep = (text: string): void => {
    written = (written + text).slice(-TAIL_CHARACTERS);
  };
  const exited = new Promise<number | null>((resolve) => {
    child.on("error", (error) => {
      keep(`${error.message}\n`);
      resolve(null);
    });
    child.on("close", resolve);
    // A grandchild that keeps the pipes open must not keep us waiting.
    child.on("exit", (code) => setTimeout(resolve, PIPE_GRACE_MS, code).unref());
  });
  child.stderr.setEncoding("utf8").on("data", keep);
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => keep(`${line}\n`));

  return {
    exited,
    tail: () => written,
    firstLine: (match, deadlineMs) =>
      new Promise((resolve, reject) => {
        const fail = (reason: string): void => {
          reject(new Error(`${command.join(" ")}: ${reason}\n${written}`));
        };
        const timer = setTimeout(() => fail(`nothing to read in ${deadlineMs} ms`), deadlineMs);
        lines.on("line", (line) => {
          const found = match(line);
          if (found === undefined) return;
          clearTimeout(timer);
          resolve(found);
        });
        void exited.then((code) => {
          clearTimeout(timer);
          fail(`exited with ${code}`);
        });
      }),
    stop: async () => {
      kill(child, options.ownGroup, "SIGTERM");
      const timer = setTimeout(() => kill(child, options.ownGroup, "SIGKILL"), STOP_GRACE_MS);
      await exited;
      clearTimeout(timer);
      if (options.ownGroup && child.pid !== undefined) {
        signalGroup(child.pid, "SIGKILL");
        groups.delete(child.pid);
      }
    },
  };
}

/** The last lines of what a process wrote, indented for a report; empty when it wrote nothing. */
export function lastLines(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-SHOWN_LINES)
    .map((line) => `\n    | ${line}`)
    .join("");
}

/** The command that runs a TypeScript file of this folder with this Node, from any working directory. */
export function typescriptCommand(file: string, ...args: readonly string[]): readonly string[] {
  const loader = createRequire(import.meta.url).resolve("tsx");
  return [
    process.execPath,
    "--import",
    loader,
    fileURLToPath(new URL(file, import.meta.url)),
    ...args,
  ];
}
