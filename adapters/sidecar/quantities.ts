import { DEFAULT_LIMITS, type Limits } from "../../src/index.js";

const DURATIONS: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const SIZES: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1_024,
  mb: 1_024 ** 2,
  gb: 1_024 ** 3,
};

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = units[parts?.[2]?.toLowerCase() ?? "?"];
  const value = unit === undefined ? Number.NaN : Math.round(Number(parts?.[1]) * unit);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** `30s`, `10m`, `500ms`, `1.5h` or plain milliseconds, in milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  return parse(text, DURATIONS);
}

/** `64mb`, `512kb` or plain bytes, in bytes (a kilobyte has 1,024); undefined for anything else. */
export function parseSize(text: string): number | undefined {
  return parse(text, SIZES);
}

/** What a limit's value must look like, told by its name: for error messages. */
export function describeLimit(name: keyof Limits): string {
  if (name.endsWith("Ms")) return "a duration such as 30s";
  return name.endsWith("Bytes") ? "a size such as 64mb" : "a whole number";
}

export function isLimitName(name: string): name is keyof Limits {
  return Object.hasOwn(DEFAULT_LIMITS, name);
}

/** The value of a limit, in the unit its name says; undefined when the text is none. */
export function parseLimit(name: keyof Limits, text: string): number | undefined {
  if (name.endsWith("Ms")) return parseDuration(text);
  if (name.endsWith("Bytes")) return parseSize(text);
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}
