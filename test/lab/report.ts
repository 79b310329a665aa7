import { LIST_NAMES, LISTS } from "./catalogue.js";
import type { Finding } from "./compare.js";
import type { Observation } from "./observe.js";
import type { Trial } from "./trial.js";

type Verdict = "equal" | "explained" | "DIFFERS" | "NOT RUN";

export function verdictOf({ failure, findings, drift, bridged }: Trial): Verdict {
  if (failure !== undefined) return "NOT RUN";
  if (bridged === undefined) return drift.length === 0 ? "equal" : "DIFFERS";
  if (findings.some(({ kind }) => kind === "fault")) return "DIFFERS";
  return findings.length === 0 ? "equal" : "explained";
}

const counts = (seen: Observation | undefined): readonly string[] => [
  ...LIST_NAMES.map((name) => {
    const list = seen?.lists[name];
    return list === undefined ? "-" : list.failure === undefined ? `${list.items.length}` : "error";
  }),
  `${seen?.calls.length ?? "-"}`,
];

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

const LABELS: Readonly<Record<Finding["kind"], string>> = {
  rule: "matrix",
  notice: "notice",
  unstable: "unstable",
  server: "server",
  fault: "UNEXPLAINED",
};

const COMPLAINT_LINES = 6;

/** The reasons of one server, a line each. */
function reasonsOf(trial: Trial): readonly string[] {
  const { failure, findings, drift, bridged } = trial;
  const complaints = bridged?.closing.complaints.trim().split("\n").slice(-COMPLAINT_LINES) ?? [];
  return [
    ...(failure === undefined ? [] : [`not run: ${failure}`]),
    ...findings.map(({ kind, where, what }) => `${LABELS[kind]}: ${where}: ${what}`),
    ...drift.map((what) => `record: ${what}`),
    ...(verdictOf(trial) === "DIFFERS" ? complaints.map((line) => `stderr: ${line}`) : []),
  ];
}

/** One line for a server that is done, and its reasons below. */
export function progressOf(trial: Trial): string {
  const { record, ms } = trial;
  const head = `${verdictOf(trial).padEnd(9)} ${record.package}@${record.version} (${ms} ms)`;
  return [head, ...reasonsOf(trial).map((reason) => `          ${reason}`)].join("\n");
}

/** The table of all servers. */
export function tableOf(trials: readonly Trial[]): string {
  const header = ["server", "version", "revision", "tools", "prompts", "resources", "templates"];
  const rows = trials.map((trial) => [
    trial.record.package,
    trial.record.version,
    trial.record.era === "dual" ? `${trial.record.revision}+modern` : trial.record.revision,
    ...counts(trial.bridged ?? trial.direct),
    verdictOf(trial),
  ]);
  return table([[...header, "calls", "verdict"], ...rows]);
}

/** The last lines: how many servers, lists and calls, and with what verdict. */
export function totalsOf(trials: readonly Trial[]): string {
  const number = (verdict: Verdict) => trials.filter((one) => verdictOf(one) === verdict).length;
  const seen = trials
    .map(({ bridged, direct }) => bridged ?? direct)
    .filter((one) => one !== undefined);
  const lists = seen.flatMap((one) => Object.values(one.lists));
  const items = lists.reduce((sum, list) => sum + list.items.length, 0);
  const calls = seen.reduce((sum, one) => sum + one.calls.length, 0);
  const further = seen.reduce((sum, one) => sum + one.further.length, 0);
  const findings = trials.flatMap((trial) => trial.findings);
  const kinds = (kind: Finding["kind"]) => findings.filter((one) => one.kind === kind).length;
  const drifted = trials.filter(({ drift }) => drift.length > 0).length;
  return [
    `${lists.length} lists of ${items} items, ${calls} calls, ${further} further requests`,
    `differences: ${kinds("rule")} named by the matrix, ${kinds("notice")} notices, ${kinds("unstable")} unstable, ${kinds("server")} the server's own, ${kinds("fault")} unexplained`,
    `direct runs that are not as recorded: ${drifted}`,
    `${trials.length} servers: ${number("equal")} equal, ${number("explained")} explained, ${number("DIFFERS")} differ, ${number("NOT RUN")} not run`,
  ].join("\n");
}

/** What `--json` prints of a server. */
export function jsonOf(trial: Trial): object {
  const { record, findings, drift, failure, ms, direct, bridged } = trial;
  const closing = { direct: direct?.closing, bridged: bridged?.closing };
  const { package: name, version, revision } = record;
  const lists = Object.fromEntries(
    LIST_NAMES.map((list, index) => [LISTS[list].method, counts(bridged ?? direct)[index]]),
  );
  return {
    name,
    version,
    revision,
    verdict: verdictOf(trial),
    lists,
    findings,
    drift,
    failure,
    ms,
    closing,
  };
}
