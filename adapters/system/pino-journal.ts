import { pino } from "pino";
import type { Journal } from "../../src/index.js";

export type JournalLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface PinoJournal extends Journal {
  /** How often each event happened since the start, those below the level included. */
  counts(): ReadonlyMap<string, number>;
}

export interface PinoJournalOptions {
  readonly level?: JournalLevel | undefined;
  /** `json`: one object a line; `text`: one line for people. */
  readonly format?: "json" | "text" | undefined;
  /** Takes whole lines; standard error when absent. */
  readonly write?: ((line: string) => void) | undefined;
}

/** Unread log output that is kept before lines are lost: whoever does not read must not stop us. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Lines of one event within `WINDOW_MS`; a peer that causes more is not worth the disk. */
const MAX_LINES = 200;
const WINDOW_MS = 10_000;

/** Names and reasons may be a peer's own words, and as long as a message. */
const MAX_WORD = 500;

/**
 * Writes events with pino, to standard error unless told otherwise. Of an event that happens again and
 * again some lines are left out; the next one says how many, as `unwritten`.
 */
export function createPinoJournal(options: PinoJournalOptions = {}): PinoJournal {
  const counts = new Map<string, number>();
  const flood = createFloodGate();
  const write = options.write ?? writeToStderr;
  const logger = pino(
    {
      level: options.level ?? "info",
      base: null,
      messageKey: "event",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: shortened },
      serializers: { error: toErrorText, cause: toErrorText },
    },
    { write: options.format === "text" ? (line: string) => write(toTextLine(line)) : write },
  );

  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (event: string, facts: Readonly<Record<string, unknown>> = {}): void => {
      counts.set(event, (counts.get(event) ?? 0) + 1);
      const unwritten = level === "debug" ? 0 : flood.leftOut(event);
      if (unwritten === 0) logger[level](facts, event);
      else if (unwritten !== undefined) logger[level]({ ...facts, unwritten }, event);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    counts: () => counts,
  };
}

function createFloodGate() {
  const windows = new Map<string, { since: number; lines: number }>();
  return {
    /** How many lines of the event were left out before this one; undefined when it is left out, too. */
    leftOut(event: string): number | undefined {
      const now = Date.now();
      const window = windows.get(event);
      if (window === undefined || now - window.since >= WINDOW_MS) {
        windows.set(event, { since: now, lines: 1 });
        return Math.max(0, (window?.lines ?? 0) - MAX_LINES);
      }
      window.lines += 1;
      return window.lines > MAX_LINES ? undefined : 0;
    },
  };
}

function shortened(facts: Record<string, unknown>): Record<string, unknown> {
  const short = { ...facts };
  for (const [name, value] of Object.entries(facts)) {
    const text = value instanceof Error ? value.message : value;
    if (typeof text === "string" && text.length > MAX_WORD) {
      short[name] = `${text.slice(0, MAX_WORD)}…`;
    }
  }
  return short;
}

function writeToStderr(line: string): void {
  if (process.stderr.writableLength < MAX_UNREAD_BYTES) process.stderr.write(line);
}

function toErrorText(value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}

function toTextLine(json: string): string {
  const { time, level, event, ...facts } = JSON.parse(json) as Record<string, unknown>;
  const words = Object.entries(facts).map(([name, value]) => `${name}=${toWord(value)}`);
  return `${[time, String(level).toUpperCase().padEnd(5), event, ...words].join(" ")}\n`;
}

/** Quoted where it would not be one word, and without a character that a terminal would obey. */
function toWord(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[^\s"=\p{C}]+$/u.test(text)) return text;
  return JSON.stringify(text).replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
