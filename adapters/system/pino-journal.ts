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

/** Writes events with pino, to standard error unless told otherwise. */
export function createPinoJournal(options: PinoJournalOptions = {}): PinoJournal {
  const counts = new Map<string, number>();
  const write = options.write ?? writeToStderr;
  const logger = pino(
    {
      level: options.level ?? "info",
      base: null,
      messageKey: "event",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: toErrorText, cause: toErrorText },
    },
    { write: options.format === "text" ? (line: string) => write(toTextLine(line)) : write },
  );

  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (event: string, facts: Readonly<Record<string, unknown>> = {}): void => {
      counts.set(event, (counts.get(event) ?? 0) + 1);
      logger[level](facts, event);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    counts: () => counts,
  };
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

/** Quoted where it would not be one word. */
function toWord(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
