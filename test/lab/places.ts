import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ServerRecord } from "./catalogue.js";

/** Where things of one server lie. The same in every run, since answers may hold these paths. */
export interface Place {
  /** The folder its package is installed in. */
  readonly folder: string;
  /** Its home and working directory: new and empty in each run. */
  readonly home: string;
  /** The folder the bridge is installed in. */
  readonly bridge: string;
}

export const bridgeFolder = (scratch: string): string => join(scratch, "bridge");

export function placeOf(record: ServerRecord, scratch: string): Place {
  const name = record.package.replace(/^@/, "").replaceAll(/[^\w.-]+/g, "__");
  const folder = join(scratch, "servers", name);
  return { folder, home: join(folder, "home"), bridge: bridgeFolder(scratch) };
}

export function emptyHome({ home }: Place): void {
  if (existsSync(home)) rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
}

/** Puts the place's paths where a record says `{HOME}`. */
export const filled = (text: string, { home }: Place): string => text.replaceAll("{HOME}", home);

/** A value with the place's paths taken out, so that runs in other folders compare. */
export function portable<Value>(value: Value, { home, folder }: Place): Value {
  const text = JSON.stringify(value);
  return text === undefined
    ? value
    : JSON.parse(text.replaceAll(home, "{HOME}").replaceAll(folder, "{DIR}"));
}
