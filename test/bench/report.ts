import type { Sample } from "./load.js";

/** What one subject did in one case, over all rounds. */
export interface Row {
  readonly case: string;
  readonly subject: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the subject for one request, in microseconds. */
  readonly cpuMicros: number | undefined;
  /** Throughput against the floor: the median of the rounds, each against the floor's next to it. */
  readonly ofFloor: number | undefined;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

const rate = (sample: Sample) => sample.requests / sample.seconds;

export function summarize(
  name: string,
  subject: string,
  samples: readonly Sample[],
  floor: readonly Sample[] | undefined,
): Row {
  const all = Float64Array.from(samples.flatMap((sample) => [...sample.latencies])).sort();
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
  const cpu = samples.reduce((sum, sample) => sum + (sample.cpu ?? Number.NaN), 0);
  const ratios = samples.flatMap((sample, round) => {
    const beside = floor?.[round];
    return beside === undefined ? [] : [rate(sample) / rate(beside)];
  });
  return {
    case: name,
    subject,
    requestsPerSecond: median(samples.map(rate)),
    p50Ms: quantile(all, 0.5),
    p99Ms: quantile(all, 0.99),
    cpuMicros: Number.isNaN(cpu) ? undefined : (cpu * 1_000) / requests,
    ofFloor: ratios.length === 0 ? undefined : median(ratios),
  };
}

const shown = (value: number | undefined, digits: number) =>
  value === undefined ? "-" : value.toFixed(digits);

const COLUMNS: readonly { title: string; width: number; of: (row: Row) => string }[] = [
  {
    title: "req/s",
    width: 9,
    of: (row) => shown(row.requestsPerSecond, row.requestsPerSecond < 100 ? 1 : 0),
  },
  { title: "p50 ms", width: 9, of: (row) => shown(row.p50Ms, 2) },
  { title: "p99 ms", width: 9, of: (row) => shown(row.p99Ms, 2) },
  { title: "cpu µs/req", width: 12, of: (row) => shown(row.cpuMicros, 0) },
  { title: "of floor", width: 10, of: (row) => shown(row.ofFloor, 2) },
];

/** The rows of one case as a table. */
export function toTable(title: string, rows: readonly Row[]): string {
  const head = `  ${"".padEnd(8)}${COLUMNS.map((column) => column.title.padStart(column.width)).join("")}`;
  const lines = rows.map(
    (row) =>
      `  ${row.subject.padEnd(8)}${COLUMNS.map((column) => column.of(row).padStart(column.width)).join("")}`,
  );
  return [title, head, ...lines].join("\n");
}
