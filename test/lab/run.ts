/**
 * `npm run lab`: servers that others published on npm, as a modern client sees them through
 * `erabridge wrap`, beside the same servers run directly. What each answers by itself is recorded in
 * `servers.json`. They run without network, as nobody, in an empty home; see `isolation.ts`.
 */
import { mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readCatalogue, type ServerRecord } from "./catalogue.js";
import { installBridge, installServer } from "./install.js";
import { availableIsolation } from "./isolation.js";
import { bridgeFolder, placeOf } from "./places.js";
import { jsonOf, progressOf, tableOf, totalsOf, verdictOf } from "./report.js";
import { type Trial, tryServer } from "./trial.js";

const HELP = `npm run lab -- [options]         needs Linux, root, unshare and setpriv
  --only NAME     servers whose package name has NAME in it, repeatable
  --limit N       no more than N servers
  --direct        without the bridge: do the servers still answer as recorded?
  --official      with the official client of 2026-07-28, which also checks what it gets
  --dir DIR       where packages are installed, outside the repository; also LAB_DIR (a new folder)
  --keep          leave installed packages in DIR for the next run (about 3 GB for all)
  --jobs N        servers at once (1)
  --timeout S     seconds for all runs of one server, without its installation (60)
  --budget MIN    minutes for everything (40)
  --json          one JSON document instead of a table

Exits with 1 when a server differs without a reason or could not be run.
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    limit: { type: "string" },
    direct: { type: "boolean", default: false },
    official: { type: "boolean", default: false },
    dir: { type: "string", default: process.env["LAB_DIR"] ?? "" },
    keep: { type: "boolean", default: false },
    jobs: { type: "string", default: "1" },
    timeout: { type: "string", default: "60" },
    budget: { type: "string", default: "40" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${text}\n`);
};

function chosen(): readonly ServerRecord[] {
  const wanted = ({ package: name }: ServerRecord) =>
    values.only.length === 0 || values.only.some((part) => name.includes(part));
  return readCatalogue()
    .filter(wanted)
    .slice(0, values.limit === undefined ? undefined : Number(values.limit));
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const records = chosen();
  const isolation = availableIsolation();
  const scratch =
    values.dir === "" ? mkdtempSync(join(tmpdir(), "erabridge-lab-")) : resolve(values.dir);
  const project = fileURLToPath(new URL("../..", import.meta.url));
  if (`${scratch}/`.startsWith(project)) throw new Error("--dir must lie outside the repository");
  const end = performance.now() + Number(values.budget) * 60_000;
  say(`${records.length} servers, isolation: ${isolation}, packages in ${scratch}`);
  if (!values.direct) await installBridge(scratch);

  const attempt = async (record: ServerRecord): Promise<Trial> => {
    const place = placeOf(record, scratch);
    const failed = (failure: string): Trial => ({
      record,
      failure,
      findings: [],
      drift: [],
      ms: 0,
    });
    const left = end - performance.now();
    if (left < 1_000) return failed("no time left");
    try {
      await installServer(record, place, left);
      return await tryServer(record, place, {
        isolation,
        directOnly: values.direct,
        official: values.official,
        timeoutMs: Math.min(
          Number(values.timeout) * 1_000,
          Math.max(1_000, end - performance.now()),
        ),
      });
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    } finally {
      rmSync(values.keep ? place.home : place.folder, { recursive: true, force: true });
    }
  };

  const trials = new Map<ServerRecord, Trial>();
  const waiting = [...records];
  const worker = async (): Promise<void> => {
    for (let record = waiting.shift(); record !== undefined; record = waiting.shift()) {
      const trial = await attempt(record);
      trials.set(record, trial);
      say(progressOf(trial));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, worker));

  if (!values.keep) {
    rmSync(bridgeFolder(scratch), { recursive: true, force: true });
    rmSync(join(scratch, "servers"), { recursive: true, force: true });
    if (readdirSync(scratch).length === 0) rmdirSync(scratch);
  }
  const done = records.map((record) => trials.get(record)).filter((trial) => trial !== undefined);
  if (values.json) process.stdout.write(`${JSON.stringify(done.map(jsonOf))}\n`);
  say(`\n${tableOf(done)}\n\n${totalsOf(done)}`);
  const well = done.every((trial) => ["equal", "explained"].includes(verdictOf(trial)));
  process.exitCode = well ? 0 : 1;
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => process.exit(code));
}
await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
});
