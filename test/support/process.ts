import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The compiled command line, as users start it. */
export const CLI = `${ROOT}dist/adapters/cli/main.js`;
export const EVERYTHING = `${ROOT}node_modules/@modelcontextprotocol/server-everything/dist/index.js`;
export const FILESYSTEM = `${ROOT}node_modules/@modelcontextprotocol/server-filesystem/dist/index.js`;

export interface RunningProcess {
  readonly child: ChildProcess;
  /** The first match of the pattern in what the process has printed on either stream. */
  waitFor(pattern: RegExp, ms?: number): Promise<RegExpMatchArray>;
  output(): string;
  /** Ends it with SIGTERM, then SIGKILL; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a program and keeps what it prints. */
export function startProcess(
  command: string,
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly cwd?: string } = {},
): RunningProcess {
  const child = spawn(command, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let text = "";
  const waiting = new Set<() => void>();
  const take = (line: string): void => {
    text += `${line}\n`;
    for (const check of waiting) check();
  };
  createInterface({ input: child.stdout }).on("line", take);
  createInterface({ input: child.stderr }).on("line", take);
  const exited = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("exit", (code) => {
      resolve(code);
      for (const check of waiting) check();
    });
  });
  return {
    child,
    output: () => text,
    waitFor: (pattern, ms = 20_000) =>
      new Promise((resolve, reject) => {
        const fail = (why: string): void => {
          settle();
          reject(new Error(`${why} while waiting for ${pattern}; it printed:\n${text}`));
        };
        const timer = setTimeout(() => fail("timeout"), ms);
        const settle = (): void => {
          clearTimeout(timer);
          waiting.delete(check);
        };
        const check = (): void => {
          const match = pattern.exec(text);
          if (match !== null) {
            settle();
            resolve(match);
          } else if (child.exitCode !== null) fail(`exit ${child.exitCode}`);
        };
        waiting.add(check);
        check();
      }),
    stop: async () => {
      if (child.exitCode === null) child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}

/** A port that was free a moment ago, for peers that cannot be told to choose one. */
export async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no port"));
        else resolve(address.port);
      });
    });
  });
}

/** `erabridge serve` in front of an upstream (a URL, or a command and its arguments). */
export async function startServe(
  upstream: readonly string[],
  options: readonly string[] = [],
): Promise<{ readonly url: string; readonly process: RunningProcess }> {
  const running = startProcess(process.execPath, [
    CLI,
    "serve",
    "--port",
    "0",
    ...options,
    "--",
    ...upstream,
  ]);
  const [, url = ""] = await running.waitFor(/(http:\/\/\S+)/);
  return { url, process: running };
}

/** `server-everything` over Streamable HTTP. */
export async function startEverythingHttp(): Promise<{
  readonly url: string;
  readonly process: RunningProcess;
}> {
  const port = await freePort();
  const running = startProcess(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { PORT: `${port}` },
  });
  await running.waitFor(/listening on port/i);
  return { url: `http://127.0.0.1:${port}/mcp`, process: running };
}
