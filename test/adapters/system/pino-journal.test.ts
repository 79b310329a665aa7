import { expect, test } from "vitest";
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
