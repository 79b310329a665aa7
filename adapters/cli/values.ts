import { parseArgs } from "node:util";
import { UsageError } from "../sidecar/usage-error.js";
import {
  type CommandName,
  OPTIONS,
  type OptionName,
  type OptionSpec,
  variableOf,
} from "./options.js";

/** What was said on the command line and in the environment, still as text. */
export interface Values {
  /** All values of an option in order; a flag has `true` or `false`. Empty when nothing was said. */
  all(name: OptionName): readonly string[];
  /** The last value of an option. */
  one(name: OptionName): string | undefined;
  flag(name: OptionName): boolean | undefined;
  /** What stands behind `--`, or from the first word on that is neither an option nor a URL. */
  readonly command: readonly string[];
  readonly words: readonly string[];
  readonly help: boolean;
}

const CONFIG = Object.fromEntries(
  OPTIONS.map((option) => [
    option.name,
    { type: option.value === undefined ? "boolean" : "string" } as const,
  ]),
);

/** Whether a command works with a server that the command line names. */
export function takesServer(command: CommandName): boolean {
  return command !== "explain" && command !== "demo";
}

/** Whether a word names a server by its URL. */
export function isUrl(word: string): boolean {
  return /^(https?|wss?):\/\//i.test(word);
}

/** How many single-character changes lie between two words, roughly. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const kept = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(kept, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known word that was probably meant. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((name) => ({ name, far: distance(word, name) }))
    .sort((a, b) => a.far - b.far);
  const best = near[0];
  return best !== undefined && best.far <= Math.max(2, word.length / 3) ? best.name : undefined;
}

function specOf(name: string, rawName: string, command: CommandName): OptionSpec {
  const spec = OPTIONS.find((option) => option.name === name);
  if (spec?.commands.includes(command)) return spec;
  if (spec !== undefined) {
    throw new UsageError(
      `${rawName} does not apply to ${command}`,
      `it belongs to: ${spec.commands.join(", ")}`,
    );
  }
  const names = OPTIONS.filter((option) => option.commands.includes(command));
  const meant = closest(
    name,
    names.map((option) => option.name),
  );
  throw new UsageError(
    `unknown option ${rawName}`,
    meant === undefined ? `see erabridge ${command} --help` : `did you mean --${meant}?`,
  );
}

function truth(text: string, source: string): string {
  if (/^(1|true|yes|on)$/i.test(text)) return "true";
  if (/^(0|false|no|off|)$/i.test(text)) return "false";
  throw new UsageError(`${source} must be true or false, not ${JSON.stringify(text)}`);
}

function fromEnvironment(
  command: CommandName,
  env: Readonly<Record<string, string | undefined>>,
): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const option of OPTIONS) {
    const variable = variableOf(option.name);
    const text = env[variable];
    if (text === undefined || !option.commands.includes(command)) continue;
    if (option.value === undefined) found.set(option.name, [truth(text, variable)]);
    else if (option.many)
      found.set(
        option.name,
        text.split("\n").filter((line) => line.trim() !== ""),
      );
    else if (text !== "") found.set(option.name, [text]);
  }
  return found;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** Adds one option of the command line to what was said before. */
function take(
  said: Map<string, readonly string[]>,
  token: OptionToken,
  command: CommandName,
): void {
  const negated = token.name.startsWith("no-") && !(token.name in CONFIG);
  const spec = specOf(negated ? token.name.slice(3) : token.name, token.rawName, command);
  if (spec.value === undefined) {
    const value = token.value === undefined ? String(!negated) : truth(token.value, token.rawName);
    said.set(spec.name, [value]);
    return;
  }
  const swallowed = token.inlineValue === false && token.value?.startsWith("--");
  if (token.value === undefined || negated || swallowed) {
    throw new UsageError(`${token.rawName} needs a value`, `${token.rawName} ${spec.value}`);
  }
  said.set(spec.name, [...(spec.many ? (said.get(spec.name) ?? []) : []), token.value]);
}

/**
 * Reads the words behind the command's name; what the command line says wins over the environment.
 * Throws UsageError for an option that does not exist, does not belong or lacks its value.
 */
export function readValues(
  command: CommandName,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Values {
  const { tokens } = parseArgs({
    args: [...argv],
    options: CONFIG,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const said = new Map<string, readonly string[]>();
  const words: string[] = [];
  let rest: readonly string[] = [];
  let help = false;
  for (const token of tokens) {
    if (token.kind === "option" && (token.name === "help" || token.name === "h")) {
      help = true;
    } else if (token.kind === "option") {
      take(said, token, command);
    } else if (token.kind === "option-terminator") {
      rest = argv.slice(token.index + 1);
      break;
    } else if (takesServer(command) && !isUrl(token.value)) {
      rest = argv.slice(token.index);
      break;
    } else {
      words.push(token.value);
    }
  }
  const merged = new Map([...fromEnvironment(command, env), ...said]);
  return {
    all: (name) => merged.get(name) ?? [],
    one: (name) => merged.get(name)?.at(-1),
    flag: (name) => (merged.has(name) ? merged.get(name)?.at(-1) === "true" : undefined),
    command: rest,
    words,
    help,
  };
}
