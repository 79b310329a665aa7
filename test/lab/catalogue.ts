import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "./json.js";

export const LISTS = {
  tools: { method: "tools/list", capability: "tools", key: "name" },
  prompts: { method: "prompts/list", capability: "prompts", key: "name" },
  resources: { method: "resources/list", capability: "resources", key: "uri" },
  resourceTemplates: {
    method: "resources/templates/list",
    capability: "resources",
    key: "uriTemplate",
  },
} as const;
export type ListName = keyof typeof LISTS;
export const LIST_NAMES: readonly ListName[] = [
  "tools",
  "prompts",
  "resources",
  "resourceTemplates",
];

/** What a list held: an error's code, or digests of its sorted keys and of its items. */
export interface ListRecord {
  readonly count: number;
  readonly error?: Json;
  readonly names?: string;
  readonly digest?: string;
  /** False: the items differ from run to run, only their keys are the same. */
  readonly stable?: boolean;
}

export interface CallRecord {
  readonly name: string;
  /** `{HOME}` in them stands for the server's home folder. */
  readonly arguments: JsonObject;
  readonly shape: JsonObject;
  readonly digest: string;
  /** False: the result differs from run to run, only its shape is the same. */
  readonly stable: boolean;
}

/** A published server and what it answers when nothing stands between. */
export interface ServerRecord {
  readonly package: string;
  readonly version: string;
  readonly runtime: "node" | "native";
  /** The program, relative to the folder the package is installed in. */
  readonly bin: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly era: "legacy" | "dual";
  /** What it negotiates with a client that asks for 2025-11-25. */
  readonly revision: string;
  readonly lists: Readonly<Partial<Record<ListName, ListRecord>>>;
  readonly calls: readonly CallRecord[];
}

export function readCatalogue(): readonly ServerRecord[] {
  return JSON.parse(readFileSync(new URL("servers.json", import.meta.url), "utf8"));
}
