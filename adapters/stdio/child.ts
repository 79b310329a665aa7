import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { BridgeError, type ChannelTarget, DEFAULT_LIMITS, type Limits } from "../../src/index.js";
import { type ChildExit, createChildChannel } from "./child-channel.js";
import { type EnvironmentOptions, toChildEnvironment } from "./environment.js";
import { type SpawnCommand, toWindowsCommand } from "./windows-command.js";

export type { ChildExit };

export interface ChildTargetOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly environment?: EnvironmentOptions | undefined;
  /** For logs and identities; the command's base name when absent. */
  readonly name?: string | undefined;
  readonly limits?:
    | Partial<
        Pick<Limits, "maxMessageBytes" | "stopGraceMs" | "lastWordsMs" | "maxStderrTailBytes">
      >
    | undefined;
  /** Each line the server writes to standard error; it means nothing about failure. */
  readonly onStderr?: ((line: string, pid: number) => void) | undefined;
  /** Called once per process, when it has ended. */
  readonly onExit?: ((exit: ChildExit) => void) | undefined;
}

type Piped = SpawnOptions & { readonly stdio: "pipe" };

/**
 * A server that this process starts, once for each conversation. `open` rejects at once with
 * `upstream-unavailable` when the command cannot be started. A process that ends by itself ends its
 * channel with its exit status in `detail`. Closing ends its input, waits `stopGraceMs`, sends
 * SIGTERM to its process group, waits again, and sends SIGKILL
 * (2026-07-28/basic/transports/stdio#shutdown). Nothing it started outlives this process.
 */
export function createChildTarget(options: ChildTargetOptions): ChannelTarget {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const name = options.name ?? basename(options.command);
  return {
    type: "channel",
    name,
    spawns: true,
    async open() {
      const child = await start(options);
      return createChildChannel(child, {
        limits,
        onStderr: options.onStderr,
        onExit: options.onExit,
      });
    },
  };
}

async function start(options: ChildTargetOptions): Promise<ChildProcess> {
  const windows = process.platform === "win32";
  const env = toChildEnvironment(options.environment ?? {});
  const failed = (error: unknown): BridgeError =>
    new BridgeError("upstream-unavailable", describeFailure(options, error), { cause: error });
  let child: ChildProcess;
  try {
    const given = { file: options.command, args: options.args ?? [], verbatim: false };
    const { file, args, verbatim }: SpawnCommand = windows
      ? toWindowsCommand(given.file, given.args, env, existsSync)
      : given;
    const settings: Piped = {
      cwd: options.cwd,
      env,
      stdio: "pipe",
      // A group of its own can be signalled as a whole, and the terminal's Ctrl-C does not reach it.
      detached: !windows,
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    };
    child = spawn(file, args, settings);
  } catch (error) {
    throw failed(error);
  }
  return new Promise((resolve, reject) => {
    child.once("spawn", () => resolve(child));
    child.once("error", (error) => reject(failed(error)));
  });
}

function describeFailure(options: ChildTargetOptions, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const command = JSON.stringify(options.command);
  if (code === "ENOENT" && options.cwd !== undefined && !existsSync(options.cwd)) {
    return `cannot start ${command}: there is no directory ${JSON.stringify(options.cwd)}`;
  }
  if (code === "ENOENT") return `cannot start ${command}: command not found`;
  if (code === "EACCES") return `cannot start ${command}: not executable`;
  return `cannot start ${command}: ${code ?? message}`;
}
