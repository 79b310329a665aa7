import type { Variables } from "../sidecar/expand.js";
import {
  ATTRIBUTIONS,
  type BridgingSettings,
  type Connection,
  ERA_PATTERN,
  FRONT_ERAS,
  type ListenSettings,
  PROBES,
  type TokenSettings,
  toSessionPolicy,
} from "../sidecar/settings.js";
import { UsageError } from "../sidecar/usage-error.js";
import type { JournalLevel } from "../system/pino-journal.js";
import { expanded, readConnection } from "./connection.js";
import { COMMANDS, type CommandName, isCommandName, type OptionName } from "./options.js";
import { readChoice, readLimits, toPort } from "./readers.js";
import { closest, readValues, takesServer, type Values } from "./values.js";

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

function readBy<T>(
  values: Values,
  name: OptionName,
  read: (text: string) => T | undefined,
): T | undefined {
  const text = values.one(name);
  if (text === undefined) return undefined;
  const value = read(text);
  if (value === undefined) throw new UsageError(`--${name} cannot be ${text}`);
  return value;
}

function readBridging(values: Values): BridgingSettings {
  const probe = readChoice(values, "probe", PROBES);
  const upstreamEra = readBy(values, "upstream-era", (text) =>
    ERA_PATTERN.test(text) ? text : undefined,
  );
  if (probe === "none" && upstreamEra === undefined) {
    throw new UsageError("--probe none needs --upstream-era", "somebody has to know the era");
  }
  return {
    upstreamEra,
    probe,
    frontEra: readChoice(values, "front-era", FRONT_ERAS),
    sessionPolicy: readBy(values, "session-policy", toSessionPolicy),
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
