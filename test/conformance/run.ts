/**
 * The official conformance suite as referee.
 *
 *   npx tsx test/conformance/run.ts [leg ...] [--scenario name] [--output folder]
 *
 * Legs: control-legacy control-modern a-http a-stdio a-get b-http b-stdio a-b b-a client-a client-b,
 * or all (default). The control legs need no bridge; the others run dist/adapters/cli/main.js, or
 * the program that ERABRIDGE_CONFORMANCE_BRIDGE names, so build first.
 * --scenario runs one scenario of each leg (a leg without it fails). --output keeps the suite's own
 * results there, in a folder per leg that replaces an older one.
 *
 * Prints per leg `leg: passed/total scenarios, successful checks, warnings` with the failing and
 * warning checks, and at last `N passed, N failed`. Exits with 1 on any failure.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type ClientLeg,
  expectedFailures,
  type Leg,
  type LegName,
  legs,
  type ServerLeg,
} from "./legs.js";
import { lastLines, typescriptCommand } from "./process.js";
import { type StartedBridge, startBridge } from "./start-bridge.js";
import { type ServerTarget, startServer } from "./start-server.js";
import { listScenarios, recordScenarios, type SuiteRun } from "./suite.js";
import { judge, type ScenarioRecord, type Verdict } from "./verdict.js";

interface Recorded {
  readonly records: readonly ScenarioRecord[];
  /** What the bridges wrote, to explain a failure. */
  readonly bridges: readonly string[];
}

type Selection = Pick<SuiteRun, "scenarios" | "outputDir"> & { readonly oneByOne: boolean };

async function recordServerLeg(leg: ServerLeg, selection: Selection): Promise<Recorded> {
  const server = await startServer(leg.server);
  const bridges: StartedBridge[] = [];
  try {
    let target: ServerTarget = server;
    for (const options of leg.bridges.toReversed()) {
      const bridge = await startBridge({ target, options, ownGroup: true });
      bridges.push(bridge);
      target = bridge;
    }
    if (!("url" in target)) throw new Error("the suite can only reach a URL");
    const subject = target.url;
    const records = await recordScenarios({ ...leg, ...selection, subject }, selection.oneByOne);
    return { records, bridges: bridges.map((bridge) => bridge.tail()) };
  } finally {
    for (const bridge of bridges.toReversed()) await bridge.stop();
    await server.stop();
  }
}

async function recordClientLeg(leg: ClientLeg, selection: Selection): Promise<Recorded> {
  // The suite splits the command at spaces and hands it to a shell, which the quotes are for.
  const quoted = typescriptCommand(leg.driver).map((part) => `'${part}'`);
  const subject = quoted.join(" ");
  return { records: await recordScenarios({ ...leg, ...selection, subject }, true), bridges: [] };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function printVerdict(name: LegName, verdict: Verdict): void {
  const { passed, total, checks, warnings } = verdict;
  print(`${name}: ${passed}/${total} scenarios, ${checks} checks, ${warnings} warnings`);
  for (const line of verdict.lines) print(line);
}

async function refereeLeg(
  name: LegName,
  only: string | undefined,
  outputDir: string,
): Promise<Verdict> {
  const leg: Leg = legs[name];
  const listed = await listScenarios(leg.role, leg.revision);
  const scenarios = listed.filter((scenario) => only === undefined || scenario === only);
  const expectation = {
    scenarios: only === undefined ? leg.scenarios : 1,
    warningsFail: leg.role === "client",
    expectedFailures: (expectedFailures[name] ?? []).filter(
      (entry) => only === undefined || only === entry.split(":")[0],
    ),
  };
  const selection = { scenarios, outputDir, oneByOne: only !== undefined };
  try {
    const { records, bridges } =
      leg.role === "server"
        ? await recordServerLeg(leg, selection)
        : await recordClientLeg(leg, selection);
    const verdict = judge(records, expectation);
    printVerdict(name, verdict);
    if (verdict.failed > 0) {
      for (const tail of bridges) print(`  a bridge of ${name} wrote last:${lastLines(tail)}`);
    }
    return verdict;
  } catch (error) {
    const verdict = judge([], expectation);
    printVerdict(name, verdict);
    print(`  FAIL it did not start: ${error instanceof Error ? error.message : error}`);
    return verdict;
  }
}

function isLegName(name: string): name is LegName {
  return name in legs;
}

function chosenLegs(names: readonly string[]): readonly LegName[] {
  const all = Object.keys(legs).filter(isLegName);
  if (names.length === 0 || names.includes("all")) return all;
  for (const name of names) {
    if (!isLegName(name)) throw new Error(`no leg ${name}; there are ${all.join(", ")}, all`);
  }
  return names.filter(isLegName);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { scenario: { type: "string" }, output: { type: "string" } },
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
  const names = chosenLegs(positionals);
  const root = values.output ?? (await mkdtemp(join(tmpdir(), "conformance-")));
  let passed = 0;
  let failed = 0;
  for (const name of names) {
    const verdict = await refereeLeg(name, values.scenario, resolve(root, name));
    passed += verdict.passed;
    failed += verdict.failed;
  }
  if (values.output === undefined && failed === 0) await rm(root, { recursive: true });
  else print(`results of the suite: ${root}`);
  print(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
