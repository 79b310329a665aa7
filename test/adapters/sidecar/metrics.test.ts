import { expect, it } from "vitest";
import { formatMetrics } from "../../../adapters/sidecar/metrics.js";

it("metrics are counters of events and gauges of upstreams, as Prometheus reads them", () => {
  const events = new Map([
    ["session-opened", 3],
    ["era-verdict", 1],
  ]);
  const text = formatMetrics(events, [
    { upstream: 'a"b', gauges: { parkedCalls: 2, sessions: 1 } },
    { upstream: "c", gauges: { sessions: 0 } },
  ]);
  expect(text.split("\n")).toEqual([
    "# HELP erabridge_events_total What happened, by the event's name in the log.",
    "# TYPE erabridge_events_total counter",
    'erabridge_events_total{event="era-verdict"} 1',
    'erabridge_events_total{event="session-opened"} 3',
    "# TYPE erabridge_parked_calls gauge",
    'erabridge_parked_calls{upstream="a\\"b"} 2',
    "# TYPE erabridge_sessions gauge",
    'erabridge_sessions{upstream="a\\"b"} 1',
    'erabridge_sessions{upstream="c"} 0',
    "",
  ]);
});
