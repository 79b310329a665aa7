/** One check of the official suite, as it stands in checks.json. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly description?: string;
  readonly errorMessage?: string;
}

/** What the suite recorded of one scenario; `problem` when it could not finish. */
export interface ScenarioRecord {
  readonly scenario: string;
  readonly checks: readonly Check[];
  readonly problem?: string;
}

/** How the records of a leg are judged. */
export interface Expectation {
  readonly scenarios: number;
  /** The suite counts a warning of a client as a failure, one of a server not. */
  readonly warningsFail: boolean;
  /** `scenario` or `scenario:check-id`; an entry that no longer fails is itself a failure. */
  readonly expectedFailures: readonly string[];
}

/** The judgement on one leg; `checks` counts those that succeeded. */
export interface Verdict {
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  readonly checks: number;
  readonly warnings: number;
  /** One line per failure and warning, and per expected failure. */
  readonly lines: readonly string[];
}

const LONGEST_REASON = 400;

function shortened(text: string): string {
  return text.length > LONGEST_REASON ? `${text.slice(0, LONGEST_REASON)} ...` : text;
}

interface Finding {
  readonly level: "FAIL" | "WARN" | "expected";
  readonly text: string;
}

function findingsOf(record: ScenarioRecord, expectation: Expectation): readonly Finding[] {
  const isExpected = (id: string): boolean =>
    expectation.expectedFailures.some(
      (entry) => entry === record.scenario || entry === `${record.scenario}:${id}`,
    );
  const findings: Finding[] = [];
  for (const check of record.checks) {
    const fails =
      check.status === "FAILURE" || (check.status === "WARNING" && expectation.warningsFail);
    if (!fails && check.status !== "WARNING") continue;
    const level = !fails ? "WARN" : isExpected(check.id) ? "expected" : "FAIL";
    const reason = shortened(check.errorMessage ?? check.description ?? "no message");
    findings.push({ level, text: `${record.scenario}  ${check.id}: ${reason}` });
  }
  const problem = record.checks.length === 0 ? (record.problem ?? "no checks") : record.problem;
  if (problem !== undefined) {
    const level = isExpected("") ? "expected" : "FAIL";
    findings.push({ level, text: `${record.scenario}  ${problem}` });
  }
  return findings;
}

function staleEntries(records: readonly ScenarioRecord[], expectation: Expectation): Finding[] {
  const failures = records.flatMap((record) =>
    findingsOf(record, { ...expectation, expectedFailures: [] })
      .filter((finding) => finding.level === "FAIL")
      .map((finding) => finding.text),
  );
  const failsStill = (entry: string): boolean => {
    const [scenario = "", check] = entry.split(":");
    const start = check === undefined ? `${scenario}  ` : `${scenario}  ${check}: `;
    return failures.some((text) => text.startsWith(start));
  };
  return expectation.expectedFailures
    .filter((entry) => !failsStill(entry))
    .map((entry) => ({ level: "FAIL", text: `${entry}  is expected to fail but does not` }));
}

/** Judges the records of a leg. Every scenario counts once, a missing one as failed. */
export function judge(records: readonly ScenarioRecord[], expectation: Expectation): Verdict {
  const findings = records.map((record) => findingsOf(record, expectation));
  const stale = staleEntries(records, expectation);
  const passed = findings.filter((each) => each.every(({ level }) => level !== "FAIL")).length;
  const count =
    records.length === expectation.scenarios
      ? []
      : [{ level: "FAIL", text: `${records.length} scenarios ran, not ${expectation.scenarios}` }];
  const missing = Math.abs(expectation.scenarios - records.length);
  const statuses = records.flatMap((record) => record.checks.map((check) => check.status));
  return {
    passed,
    failed: records.length - passed + missing + stale.length,
    total: expectation.scenarios,
    checks: statuses.filter((status) => status === "SUCCESS").length,
    warnings: statuses.filter((status) => status === "WARNING").length,
    lines: [...findings.flat(), ...stale, ...count].map(({ level, text }) => `  ${level} ${text}`),
  };
}
