import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startProcess } from "./process.js";
import type { ServerTarget } from "./start-server.js";

/** What to put a bridge in front of, and with which options of `erabridge serve`. */
export interface BridgeSpec {
  readonly target: ServerTarget;
  readonly options: readonly string[];
  /** Whether stop() also reaches what the bridge started; false inside a process that is stopped as a group. */
  readonly ownGroup: boolean;
}

/** A bridge that serves at `url` until `stop`. */
export interface StartedBridge {
  readonly url: string;
  /** The end of what it wrote, for failure reports. */
  tail(): string;
  stop(): Promise<void>;
}

/** Names another program to start in place of the built command line. */
const BRIDGE_VARIABLE = "ERABRIDGE_CONFORMANCE_BRIDGE";

const START_DEADLINE_MS = 20_000;

/** Runs `erabridge serve` from `dist/`; the first URL on its stdout is where it serves. */
export async function startBridge(spec: BridgeSpec): Promise<StartedBridge> {
  const { target, options, ownGroup } = spec;
  const built = fileURLToPath(new URL("../../dist/adapters/cli/main.js", import.meta.url));
  const program = process.env[BRIDGE_VARIABLE] ?? built;
  if (!existsSync(program)) throw new Error(`${program} is missing: run "npm run build" first`);
  const upstream = "url" in target ? [target.url] : target.command;
  const bridge = startProcess(
    [process.execPath, program, "serve", "--port", "0", ...options, "--", ...upstream],
    { ownGroup },
  );
  try {
    const url = await bridge.firstLine(
      (line) => /https?:\/\/[^\s"']+/.exec(line)?.[0],
      START_DEADLINE_MS,
    );
    return { url, tail: bridge.tail, stop: bridge.stop };
  } catch (error) {
    await bridge.stop();
    throw error;
  }
}
