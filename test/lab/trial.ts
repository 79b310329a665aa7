import { join } from "node:path";
import type { ServerRecord } from "./catalogue.js";
import { compareRuns, type Finding } from "./compare.js";
import { type Isolation, isolated } from "./isolation.js";
import { connectLegacy } from "./legacy-client.js";
import { connectModern } from "./modern-client.js";
import { type Observation, observe } from "./observe.js";
import { connectOfficial } from "./official-client.js";
import { filled, type Place } from "./places.js";
import { differencesFromRecord } from "./record-check.js";

/** What one server showed. */
export interface Trial {
  readonly record: ServerRecord;
  readonly direct?: Observation;
  readonly bridged?: Observation;
  readonly findings: readonly Finding[];
  /** In what the direct run is not as `servers.json` has it. */
  readonly drift: readonly string[];
  /** Why it could not be run. */
  readonly failure?: string;
  readonly ms: number;
}

export interface TrialOptions {
  readonly isolation: Isolation;
  /** No run through the bridge: only check that the record still holds. */
  readonly directOnly: boolean;
  /** The modern client: a plain one that reports what it got, or the official one around it. */
  readonly official: boolean;
  /** Time for all runs of this server. */
  readonly timeoutMs: number;
}

function serverCommand(record: ServerRecord, place: Place): readonly string[] {
  const program = join(place.folder, record.bin);
  const start = record.runtime === "native" ? [program] : [process.execPath, program];
  return [...start, ...(record.args ?? []).map((argument) => filled(argument, place))];
}

function environment(record: ServerRecord, place: Place): Readonly<Record<string, string>> {
  const given = Object.entries(record.env ?? {});
  return Object.fromEntries(given.map(([name, value]) => [name, filled(value, place)]));
}

/** Runs a server directly and through the bridge, one after the other, and compares. */
export async function tryServer(
  record: ServerRecord,
  place: Place,
  { isolation, directOnly, official, timeoutMs }: TrialOptions,
): Promise<Trial> {
  const since = performance.now();
  const elapsed = () => Math.round(performance.now() - since);
  const env = environment(record, place);
  const server = serverCommand(record, place);
  const bridge = [
    ...[process.execPath, join(place.bridge, "node_modules/erabridge/dist/adapters/cli/main.js")],
    ...["wrap", ...Object.keys(env).flatMap((name) => ["--env", name]), "--", ...server],
  ];
  const left = () => Math.max(1, timeoutMs - elapsed());
  const runDirect = () =>
    observe(
      connectLegacy(isolated(server, env, place, isolation), place, left()),
      record.calls,
      place,
    );
  const direct = await runDirect();
  const drift = differencesFromRecord(record, direct);
  if (directOnly) return { record, direct, drift, findings: [], ms: elapsed() };
  if (!("result" in direct.opening))
    return { record, direct, drift, findings: [], failure: "it does not start", ms: elapsed() };
  const command = isolated(bridge, env, place, isolation);
  const connect = official ? connectOfficial : connectModern;
  const bridged = await observe(connect(command, place, left()), record.calls, place);
  let findings = compareRuns(record, { direct, bridged });
  if (findings.some(({ kind }) => kind === "fault"))
    findings = compareRuns(record, { direct, bridged, again: await runDirect() });
  const late = elapsed() >= timeoutMs ? { failure: `more than ${timeoutMs} ms` } : {};
  return { record, direct, bridged, drift, findings, ...late, ms: elapsed() };
}
