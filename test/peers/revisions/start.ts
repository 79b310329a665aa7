import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type RunningProcess, startProcess } from "../../support/process.js";
import type { OldPlace } from "./client.js";
import type { OlderRevision } from "./content.js";

const LOADER = createRequire(import.meta.url).resolve("tsx");
const SERVER = fileURLToPath(new URL("older-server.ts", import.meta.url));

/** Node with the arguments that run a TypeScript file of the tests. */
export const typescript = (file: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  "--import",
  LOADER,
  file,
  ...args,
];

/** A place to connect to, and the process behind it unless whoever connects starts it. */
export interface OldServerPlace {
  readonly place: OldPlace;
  readonly process: RunningProcess | undefined;
}

export async function startOlderServer(
  revision: OlderRevision,
  transport: OldPlace["transport"],
): Promise<OldServerPlace> {
  const command = typescript(SERVER, "--revision", revision, "--transport", transport);
  if (transport === "stdio") return { place: { transport, command }, process: undefined };
  const [file = "", ...args] = command;
  const running = startProcess(file, args);
  const [url = ""] = await running.waitFor(/^(?:http|ws):\/\/\S+/m);
  return { place: { transport, url }, process: running };
}

/** The words after `--` that name this server to the bridge. */
export const upstreamOf = (place: OldPlace): readonly string[] =>
  place.transport === "stdio" ? place.command : [place.url];
