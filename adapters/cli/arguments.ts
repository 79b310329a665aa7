import { expandVariables, type Variables } from "../sidecar/expand.js";
import {
  ATTRIBUTIONS,
  type BridgingSettings,
  type Connection,
  ERA_PATTERN,
  FRONT_ERAS,
  type ListenSettings,
  POLICY_PATTERN,
  PROBES,
  type TokenSettings,
} from "../sidecar/settings.js";
import { UsageError } from "../sidecar/usage-error.js";
import type { JournalLevel } from "../system/pino-journal.js";
import { COMMANDS, type CommandName, isCommandName } from "./options.js";
import { readChoice, readLimits, toPort } from "./readers.js";
import { closest, isUrl, readValues, takesServer, type Values } from "./values.js";

/** What `wrap`, `serve` and `check` were told, typed and checked. */
export interface Options {
  /** The one server of the command line; undefined where there is none (`--config`, `explain`). */
  readonly connection: Connection | undefined;
  readonly bridging: BridgingSettings;
  /** Only what was said: a configuration file fills the rest. */
  readonly listen: Partial<ListenSettings>;
  readonly path: string;
  readonly configFile: string | undefined;
  readonly secretFile: string | undefined;
  readonly logLevel: JournalLevel;
  readonly logFormat: "text" | "json";
  readonly json: boolean;
  /** The words behind `explain`. */
  readonly words: readonly string[];
}

export type Invocation =
  | { readonly type: "run"; readonly command: CommandName; readonly options: Options }
  | { readonly type: "help"; readonly command: CommandName | undefined }
  | { readonly type: "version" };

const LOG_LEVELS = ["info", "debug", "warn", "error", "silent"] as const;

function expanded(text: string, env: Variables, option: string): string {
  const { text: result, missing } = expandVariables(text, env);
  if (missing.length === 0) return result;
  throw new UsageError(`--${option} names variables that are not set: ${missing.join(", ")}`);
}

function readHeaders(values: Values, env: Variables): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of values.all("header")) {
    const parts = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/s.exec(expanded(line, env, "header"));
    const [, name, value] = parts ?? [];
    if (name === undefined || value === undefined || /[\r\n\0]/.test(value)) {
      throw new UsageError("a --header is no header", "write it as 'Name: value'");
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function readChildEnv(values: Values, env: Variables): Readonly<Record<string, string>> {
  const child: Record<string, string> = {};
  for (const assignment of values.all("env")) {
    const [name = "", text] = assignment.split(/=(.*)/s);
    const value = text ?? env[name];
    if (name === "") throw new UsageError(`--env ${assignment} names no variable`);
    if (value === undefined) throw new UsageError(`--env ${name}: the variable is not set`);
    child[name] = value;
  }
  return child;
}

function readConnection(values: Values, env: Variables): Connection | undefined {
  const behind = values.command.length === 1 && isUrl(values.command[0] ?? "");
  const [url, another] = behind ? [...values.words, ...values.command] : values.words;
  const [command, ...args] = behind ? [] : values.command;
  if (url !== undefined && (another !== undefined || command !== undefined)) {
    throw new UsageError(`one server at a time: ${url} and ${another ?? command}`);
  }
  if (url !== undefined) {
    if (!URL.canParse(url)) throw new UsageError(`${url} is no URL`);
    return { type: "url", url, headers: readHeaders(values, env) };
  }
  if (command === undefined) return undefined;
  return {
    type: "command",
    command,
    args,
    env: readChildEnv(values, env),
    inheritEnv: values.flag("inherit-env") ?? false,
    cwd: values.one("cwd"),
  };
}

function readPattern(values: Values, name: "upstream-era" | "session-policy", pattern: RegExp) {
  const value = values.one(name);
  if (value === undefined || pattern.test(value)) return value;
  throw new UsageError(`--${name} cannot be ${value}`);
}

function readBridging(values: Values): BridgingSettings {
  const probe = readChoice(values, "probe", PROBES);
  const upstreamEra = readPattern(values, "upstream-era", ERA_PATTERN);
  if (probe === "none" && upstreamEra === undefined) {
    throw new UsageError("--probe none needs --upstream-era", "somebody has to know the era");
  }
  return {
    upstreamEra,
    probe,
    frontEra: readChoice(values, "front-era", FRONT_ERAS),
    sessionPolicy: readPattern(values, "session-policy", POLICY_PATTERN),
    attribution: readChoice(values, "attribution", ATTRIBUTIONS),
    forwardUnknown: values.flag("forward-unknown") ?? true,
    sameResource: values.flag("same-resource") ?? false,
    lazy: values.flag("lazy") ?? false,
    limits: readLimits(values),
  };
}

function readToken(text: string): TokenSettings {
  const [, principal, secret = ""] = /^(?:([^:]*):)?(.*)$/s.exec(text) ?? [];
  if (!/^[\w.~+/-]+=*$/.test(secret)) {
    throw new UsageError("a --token has characters that a bearer token cannot have");
  }
  return { principal: principal ?? "operator", secret };
}

function readListen(values: Values, env: Variables): Partial<ListenSettings> {
  const host = values.one("host");
  const port = values.one("port");
  const tokens = values.all("token").map((text) => readToken(expanded(text, env, "token")));
  const allowAnonymous = values.flag("allow-anonymous");
  const allowedOrigins = values.all("allow-origin");
  const allowedHosts = values.all("allow-host");
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: toPort(port) }),
    ...(tokens.length === 0 ? {} : { tokens }),
    ...(allowAnonymous === undefined ? {} : { allowAnonymous }),
    ...(allowedOrigins.length === 0 ? {} : { allowedOrigins }),
    ...(allowedHosts.length === 0 ? {} : { allowedHosts }),
  };
}

function readOptions(command: CommandName, values: Values, env: Variables): Options {
  const path = values.one("path") ?? "/mcp";
  if (!/^\/[^\s?#]*$/.test(path)) throw new UsageError(`--path must start with /, not ${path}`);
  return {
    connection: takesServer(command) ? readConnection(values, env) : undefined,
    bridging: readBridging(values),
    listen: readListen(values, env),
    path,
    configFile: values.one("config"),
    secretFile: values.one("secret-file"),
    logLevel: readChoice(values, "log-level", LOG_LEVELS),
    logFormat: readChoice(values, "log-format", ["text", "json"]),
    json: values.flag("json") ?? false,
    words: values.words,
  };
}

function checkServer(command: CommandName, options: Options): void {
  const named = options.connection !== undefined;
  if (command === "serve" && options.configFile !== undefined) {
    if (named) throw new UsageError("--config names the servers: give no other one");
  } else if (!named && takesServer(command)) {
    throw new UsageError(
      `${command} needs a server`,
      `erabridge ${command} -- <command> [args…], or erabridge ${command} <url>`,
    );
  }
}

/** Reads the command line and the environment. Throws UsageError. */
export function readArguments(argv: readonly string[], env: Variables): Invocation {
  const [first, ...rest] = argv;
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    const [topic] = rest;
    return {
      type: "help",
      command: topic !== undefined && isCommandName(topic) ? topic : undefined,
    };
  }
  if (first === "--version" || first === "-V") return { type: "version" };
  if (!isCommandName(first)) {
    const meant = closest(first, COMMANDS);
    throw new UsageError(
      `there is no command ${first}`,
      meant === undefined ? `commands: ${COMMANDS.join(", ")}` : `did you mean ${meant}?`,
    );
  }
  const values = readValues(first, rest, env);
  if (values.help) return { type: "help", command: first };
  const options = readOptions(first, values, env);
  checkServer(first, options);
  return { type: "run", command: first, options };
}
