import { DEFAULT_LIMITS, type Limits } from "../../src/index.js";
import { describeLimit, isLimitName, parseLimit } from "../sidecar/quantities.js";
import { UsageError } from "../sidecar/usage-error.js";
import type { OptionName } from "./options.js";
import { closest, type Values } from "./values.js";

/** The limits that have an option of their own. */
const LIMIT_OPTIONS = {
  "request-timeout": "requestTimeoutMs",
  "park-timeout": "parkMs",
  "eof-grace": "eofGraceMs",
  "session-idle": "sessionIdleMs",
  "max-body": "maxMessageBytes",
} as const satisfies Partial<Record<OptionName, keyof Limits>>;

/** One of a few words. Throws UsageError for another. */
export function readChoice<T extends string>(
  values: Values,
  name: OptionName,
  choices: readonly [T, ...T[]],
): T {
  const value = values.one(name);
  if (value === undefined) return choices[0];
  const choice = choices.find((known) => known === value);
  if (choice === undefined) {
    throw new UsageError(`--${name} cannot be ${value}`, `it is one of: ${choices.join(", ")}`);
  }
  return choice;
}

/** Throws UsageError for anything but a port; 0 is one. */
export function toPort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 to 65535, not ${text}`);
}

function limitOf(name: keyof Limits, text: string, source: string): number {
  const value = parseLimit(name, text);
  if (value !== undefined) return value;
  throw new UsageError(`${source} must be ${describeLimit(name)}, not ${JSON.stringify(text)}`);
}

/** The limits that were set, by their own options and by `--limit`. */
export function readLimits(values: Values): Partial<Limits> {
  const limits: Partial<Record<keyof Limits, number>> = {};
  for (const assignment of values.all("limit")) {
    const [name = "", text = ""] = assignment.split(/=(.*)/s);
    if (!isLimitName(name)) {
      const meant = closest(name, Object.keys(DEFAULT_LIMITS));
      throw new UsageError(
        `there is no limit ${JSON.stringify(name)}`,
        meant === undefined ? "the README lists them" : `did you mean ${meant}?`,
      );
    }
    limits[name] = limitOf(name, text, `--limit ${name}`);
  }
  for (const [option, name] of Object.entries(LIMIT_OPTIONS)) {
    const text = values.one(option as keyof typeof LIMIT_OPTIONS);
    if (text !== undefined) limits[name] = limitOf(name, text, `--${option}`);
  }
  return limits;
}
