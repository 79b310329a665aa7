import { compiled } from "./compiled.js";
import { startProcess } from "./process.js";

/** Which everything server to start, and how it is reached. */
export interface ServerSpec {
  readonly era: "legacy" | "modern";
  readonly transport: "http" | "stdio";
  /** Where a legacy HTTP server sends its reverse requests; default `post`, the stream of the call. */
  readonly reverseOn?: "post" | "get";
}

/** A server to connect to, or the command that serves on its stdin and stdout. */
export type ServerTarget = { readonly url: string } | { readonly command: readonly string[] };

/** A target that runs (or is run by whoever launches its command) until `stop`. */
export type StartedServer<Target extends ServerTarget = ServerTarget> = Target & {
  stop(): Promise<void>;
};

const START_DEADLINE_MS = 20_000;

export function startServer(
  spec: ServerSpec & { readonly transport: "http" },
): Promise<StartedServer<{ readonly url: string }>>;
export function startServer(
  spec: ServerSpec & { readonly transport: "stdio" },
): Promise<StartedServer<{ readonly command: readonly string[] }>>;
export function startServer(spec: ServerSpec): Promise<StartedServer>;
/**
 * Starts an everything server as a process of its own. Over HTTP it listens on 127.0.0.1 and `url`
 * is its endpoint; over stdio nothing runs yet and `command` is what to launch.
 */
export async function startServer(spec: ServerSpec): Promise<StartedServer> {
  const program = [process.execPath, compiled(`${spec.era}-everything-server.ts`)];
  if (spec.transport === "stdio") {
    return { command: [...program, "--stdio"], stop: async () => undefined };
  }
  const reverse = spec.era === "legacy" ? ["--reverse-on", spec.reverseOn ?? "post"] : [];
  const server = startProcess([...program, "--http", ...reverse], { ownGroup: true });
  try {
    const url = await server.firstLine(
      (line) => /^{"url":"([^"]+)"}$/.exec(line)?.[1],
      START_DEADLINE_MS,
    );
    return { url, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
