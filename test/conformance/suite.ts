import { readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLines, startProcess } from "./process.js";
import type { Check, ScenarioRecord } from "./verdict.js";

/** Which side of the protocol the suite tests. */
export type Role = "server" | "client";

/** One run of the official suite against a server URL or a client command. */
export interface SuiteRun {
  readonly role: Role;
  readonly revision: string;
  readonly subject: string;
  readonly scenarios: readonly string[];
  readonly outputDir: string;
}

const SCENARIO_LIMIT_MS = 30_000;
const LEG_LIMIT_MS = 240_000;
const START_ALLOWANCE_MS = 10_000;

function suiteCommand(args: readonly string[]): readonly string[] {
  const manifest = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/conformance/package.json",
  );
  const preload = fileURLToPath(new URL("./suite-preload.mjs", import.meta.url));
  const program = join(dirname(manifest), "dist/index.js");
  return [process.execPath, "--import", preload, program, ...args];
}

interface Finished {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly tail: string;
}

async function runSuite(args: readonly string[], limitMs: number): Promise<Finished> {
  const suite = startProcess(suiteCommand(args), { ownGroup: true });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void suite.stop();
  }, limitMs);
  const exitCode = await suite.exited;
  clearTimeout(timer);
  await suite.stop();
  return { exitCode, timedOut, tail: suite.tail() };
}

/** The names of the scenarios that the suite has for a role and revision, without authorization. */
export async function listScenarios(role: Role, revision: string): Promise<readonly string[]> {
  const args = ["list", `--${role}`, "--spec-version", revision];
  const { tail } = await runSuite(args, START_ALLOWANCE_MS);
  const names = [...tail.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1] ?? "");
  if (names.length === 0) throw new Error(`the suite lists no ${role} scenarios:\n${tail}`);
  return names.filter((name) => !name.startsWith("auth/"));
}

async function readResult(outputDir: string, scenario: string, file: string): Promise<string> {
  const folders = await readdir(outputDir).catch(() => []);
  const folder = folders.find((name) =>
    [scenario, `server-${scenario}`].includes(name.replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, "")),
  );
  if (folder === undefined) return "";
  return await readFile(join(outputDir, folder, file), "utf8").catch(() => "");
}

async function readChecks(outputDir: string, scenario: string): Promise<readonly Check[]> {
  const text = await readResult(outputDir, scenario, "checks.json");
  const checks: readonly Check[] = text === "" ? [] : JSON.parse(text);
  return checks;
}

function suiteArgs(run: SuiteRun, selection: readonly string[]): readonly string[] {
  const subject = run.role === "server" ? "--url" : "--command";
  return [
    run.role,
    subject,
    run.subject,
    ...selection,
    "--spec-version",
    run.revision,
    "--timeout",
    String(SCENARIO_LIMIT_MS),
    "-o",
    run.outputDir,
  ];
}

async function runTogether(run: SuiteRun): Promise<readonly ScenarioRecord[]> {
  const args = suiteArgs(run, ["--suite", "all"]);
  const finished = await runSuite(args, LEG_LIMIT_MS);
  const records: ScenarioRecord[] = [];
  let why = finished.timedOut ? "the suite did not finish in time" : "the suite recorded nothing";
  why += lastLines(finished.tail);
  for (const scenario of run.scenarios) {
    const checks = await readChecks(run.outputDir, scenario);
    records.push(checks.length > 0 ? { scenario, checks } : { scenario, checks, problem: why });
    if (checks.length === 0) why = "as above";
  }
  return records;
}

async function runAlone(run: SuiteRun, scenario: string): Promise<ScenarioRecord> {
  const limit = START_ALLOWANCE_MS + SCENARIO_LIMIT_MS;
  const finished = await runSuite(suiteArgs(run, ["--scenario", scenario]), limit);
  const checks = await readChecks(run.outputDir, scenario);
  if (finished.exitCode === 0) return { scenario, checks };
  const crash = /Client (?:exited with code|timed out after) \S+/.exec(finished.tail)?.[0];
  const fails = checks.some(({ status }) => status === "FAILURE" || status === "WARNING");
  if (crash === undefined && fails) return { scenario, checks };
  const written = await readResult(run.outputDir, scenario, "stderr.txt");
  const reason = crash ?? `the suite exited with ${finished.exitCode}`;
  return { scenario, checks, problem: `${reason}${lastLines(written || finished.tail)}` };
}

/**
 * Runs the scenarios and reads what was recorded, into an output folder that is emptied first. A server is tested by one process of the suite; a
 * client by one per scenario, because only then a client that crashes or hangs is a failure.
 */
export async function recordScenarios(
  run: SuiteRun,
  oneByOne: boolean,
): Promise<readonly ScenarioRecord[]> {
  await rm(run.outputDir, { recursive: true, force: true });
  if (!oneByOne) return await runTogether(run);
  const records: ScenarioRecord[] = [];
  for (const scenario of run.scenarios) records.push(await runAlone(run, scenario));
  return records;
}
