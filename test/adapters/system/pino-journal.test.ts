import { expect, onTestFinished, test, vi } from "vitest";
import { createPinoJournal } from "../../../adapters/system/pino-journal.js";

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

test("json lines carry level, time, event and facts", () => {
  const lines: string[] = [];
  const journal = createPinoJournal({ format: "json", write: (line) => lines.push(line) });
  journal.warn("upstream-lost", { upstream: "files", code: 1 });
  expect(lines).toHaveLength(1);
  const { time, ...rest } = JSON.parse(lines[0] ?? "");
  expect(time).toMatch(TIME);
  expect(rest).toEqual({ level: "warn", event: "upstream-lost", upstream: "files", code: 1 });
  expect(lines[0]?.endsWith("\n")).toBe(true);
});

test("text is one line, with quotes only where a value is not one word", () => {
  const lines: string[] = [];
  const journal = createPinoJournal({ format: "text", write: (line) => lines.push(line) });
  journal.info("era-verdict", { upstream: "files", reason: "said\nno", ms: 12, pinned: false });
  expect(lines[0]?.replace(TIME, "T")).toBe(
    'T INFO  era-verdict upstream=files reason="said\\nno" ms=12 pinned=false\n',
  );
});

test("events below the level are counted and not written", () => {
  const lines: string[] = [];
  const journal = createPinoJournal({ level: "warn", write: (line) => lines.push(line) });
  journal.debug("round", {});
  journal.info("round");
  journal.error("crash");
  expect(lines).toHaveLength(1);
  expect([...journal.counts()]).toEqual([
    ["round", 2],
    ["crash", 1],
  ]);
});

test("an error among the facts is its message, without a stack", () => {
  const lines: string[] = [];
  const journal = createPinoJournal({ write: (line) => lines.push(line) });
  journal.error("crash", { error: new Error("no such host") });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ error: "no such host" });
  expect(lines[0]).not.toContain("at ");
});

test("what a peer wrote cannot steer the reader's terminal", () => {
  const lines: string[] = [];
  const journal = createPinoJournal({ format: "text", write: (line) => lines.push(line) });
  journal.info("refused", { method: "a\u001b[2Jb", name: "\u009b31m", other: "\u202etxt" });
  expect(lines[0]?.replace(TIME, "T")).toBe(
    'T INFO  refused method="a\\u001b[2Jb" name="\\u{9b}31m" other="\\u{202e}txt"\n',
  );
});

test("what a peer wrote is not written at any length", () => {
  const lines: string[] = [];
  const journal = createPinoJournal({ write: (line) => lines.push(line) });
  journal.info("refused", { method: "m".repeat(1_000_000), error: new Error("e".repeat(9_999)) });
  expect(lines[0]?.length).toBeLessThan(1_500);
  expect(lines[0]).toContain("mmm…");
});

test("an event that happens all the time is counted, and written now and then", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const journal = createPinoJournal({ write: (line) => lines.push(line) });
  for (let n = 0; n < 10_000; n++) journal.info("refused", { n });
  journal.info("another");
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.length).toBeLessThan(1_000);
  expect(lines.at(-1)).toContain("another");
  expect(journal.counts().get("refused")).toBe(10_000);
  const written = lines.length - 1;
  vi.setSystemTime(Date.now() + 10_000);
  journal.info("refused");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ unwritten: 10_000 - written });
});
