/** One upstream's gauges, by name. */
export interface UpstreamGauges {
  readonly upstream: string;
  readonly gauges: Readonly<Record<string, number>>;
}

const byText = (a: string, b: string) => (a < b ? -1 : 1);

const toName = (text: string) =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();

const toLabel = (text: string) =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** Counters of events and gauges of upstreams in the text format of Prometheus. */
export function formatMetrics(
  events: ReadonlyMap<string, number>,
  upstreams: readonly UpstreamGauges[],
): string {
  const lines = [
    "# HELP erabridge_events_total What happened, by the event's name in the log.",
    "# TYPE erabridge_events_total counter",
    ...[...events]
      .sort(([a], [b]) => byText(a, b))
      .map(([event, count]) => `erabridge_events_total{event="${toLabel(event)}"} ${count}`),
  ];
  const names = [...new Set(upstreams.flatMap(({ gauges }) => Object.keys(gauges)))].sort(byText);
  for (const name of names) {
    lines.push(`# TYPE erabridge_${toName(name)} gauge`);
    for (const { upstream, gauges } of upstreams) {
      const value = gauges[name];
      if (value !== undefined) {
        lines.push(`erabridge_${toName(name)}{upstream="${toLabel(upstream)}"} ${value}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}
