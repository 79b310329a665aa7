import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CLI } from "./process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A server of the bench: legacy, minimal, on standard input and output. */
export const STDIO_SERVER: readonly string[] = [
  process.execPath,
  "--import",
  import.meta.resolve("tsx"),
  `${ROOT}test/bench/legacy-server.ts`,
  "stdio",
];

/** `erabridge` as a process, its two streams apart. */
export interface RunningCli {
  readonly child: ChildProcessWithoutNullStreams;
  out(): string;
  err(): string;
  /** Resolves once a stream shows the pattern; rejects when the process ends or `ms` pass before. */
  see(stream: "out" | "err", pattern: RegExp, ms?: number): Promise<RegExpMatchArray>;
  /** Code or signal, once it is gone and its streams are read to the end. */
  readonly exit: Promise<number | string | null>;
}

export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningCli {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  const text = { out: "", err: "" };
  const checks = new Set<() => void>();
  let over = false;
  const collect = (stream: "out" | "err") => (chunk: Buffer) => {
    text[stream] += chunk.toString();
    for (const check of [...checks]) check();
  };
  child.stdout.on("data", collect("out"));
  child.stderr.on("data", collect("err"));
  child.stdin.on("error", () => undefined);
  const exit = new Promise<number | string | null>((resolve) => {
    child.once("close", (code, signal) => {
      over = true;
      for (const check of [...checks]) check();
      resolve(code ?? signal);
    });
  });
  return {
    child,
    out: () => text.out,
    err: () => text.err,
    exit,
    see: (stream, pattern, ms = 15_000) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(timer);
          checks.delete(check);
        };
        const fail = (why: string) => {
          settle();
          reject(new Error(`${why}, no ${pattern} in:\n${text.out}\n--\n${text.err}`));
        };
        const check = () => {
          const match = pattern.exec(text[stream]);
          if (match !== null) {
            settle();
            resolve(match);
          } else if (over) fail("it ended");
        };
        const timer = setTimeout(() => fail(`${ms} ms passed`), ms);
        checks.add(check);
        check();
      }),
  };
}

/** A modern request as text. */
export function modernRequest(id: number, method: string, params: object = {}): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
}

/** Sends a modern request to an endpoint; the answer's status and message. */
export async function postModern(
  url: string,
  method: string,
  params: { readonly name?: string } & object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly message: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(params.name === undefined ? {} : { "mcp-name": params.name }),
      ...headers,
    },
    body: modernRequest(1, method, params),
  });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? (text.startsWith("{") ? text : "{}");
  return { status: response.status, message: JSON.parse(json) as Record<string, unknown> };
}

/** Whether a process still runs; one that is dead and not yet buried does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return (
      !existsSync(`/proc/${pid}/stat`) || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
    );
  } catch {
    return false;
  }
}
