import { CLI, type RunningProcess, startServe } from "../support/process.js";
import type { Place } from "../support/sdk-peers.js";

export type Front = "wrap" | "serve";

/** Where a client finds the bridge in front of an upstream; what it starts is added to `running`. */
export async function bridgedBy(
  front: Front,
  upstream: readonly string[],
  running: RunningProcess[],
): Promise<Place> {
  if (front === "wrap") return { command: [process.execPath, CLI, "wrap", "--", ...upstream] };
  const bridge = await startServe(upstream);
  running.push(bridge.process);
  return { url: bridge.url };
}
