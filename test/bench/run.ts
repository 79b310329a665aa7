/**
 * `npm run bench`: the bridge beside a direct connection and the floor, in one run. The subjects take
 * turns, round by round, so that whatever else the machine does hits them alike.
 */
import { parseArgs } from "node:util";
import { type BenchCase, CASES } from "./cases.js";
import { type Load, openLoad, type Sample } from "./load.js";
import { type Row, summarize, toTable } from "./report.js";
import { openSubjects } from "./subjects.js";

const HELP = `npm run bench -- [options]
  --case NAME        only this case, repeatable: ${CASES.map((bench) => bench.name).join(", ")}
  --subject NAME     only this subject, repeatable: direct, floor, bridge
  --seconds N        length of one round of one subject (default 2)
  --rounds N         rounds of each subject (default 5)
  --connections N    instead of the case's own number
  --profile FOLDER   write the bridge's CPU profiles there
  --bridge OPTION    passed on to erabridge serve, repeatable
  --json             one JSON document instead of tables
`;

const { values } = parseArgs({
  options: {
    case: { type: "string", multiple: true },
    subject: { type: "string", multiple: true, default: ["direct", "floor", "bridge"] },
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "5" },
    connections: { type: "string" },
    bridge: { type: "string", multiple: true, default: [] },
    profile: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function measure(bench: BenchCase): Promise<readonly Row[]> {
  const subjects = await openSubjects(bench, {
    wanted: values.subject,
    bridge: values.bridge,
    node: values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`],
  });
  const loads: Load[] = [];
  try {
    const samples = new Map<string, Sample[]>();
    for (const subject of subjects.list) loads.push(await openLoad(bench, subject));
    // Warm-up: compilers, connection pools and upstream sessions are not what is compared. The
    // optimizing compiler is done after some 5,000 requests, which takes a busy machine two rounds.
    for (const load of loads) await load.run(2 * Number(values.seconds));
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const [index, load] of loads.entries()) {
        const name = subjects.list[index]?.name ?? "";
        const sample = await load.run(Number(values.seconds));
        samples.set(name, [...(samples.get(name) ?? []), sample]);
      }
    }
    const floor = samples.get("floor");
    return [...samples].map(([subject, own]) => summarize(bench.name, subject, own, floor));
  } finally {
    await Promise.all(loads.map((load) => load.close()));
    subjects.close();
  }
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const chosen = CASES.filter((bench) => values.case?.includes(bench.name) ?? true).map((bench) =>
    values.connections === undefined
      ? bench
      : { ...bench, connections: Number(values.connections) },
  );
  const rows: Row[] = [];
  for (const bench of chosen) {
    const measured = await measure(bench);
    rows.push(...measured);
    const title = `${bench.title}, ${bench.connections} connections`;
    if (!values.json) process.stdout.write(`${toTable(title, measured)}\n\n`);
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ node: process.version, rows })}\n`);
}

await main();
