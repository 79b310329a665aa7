import * as z from "zod";
import type { Limits } from "../../src/index.js";
import {
  type BridgingEntry,
  type ConfigFile,
  configSchema,
  type ServerEntry,
  unknownMembers,
} from "./config-schema.js";
import { toPlainJson } from "./config-text.js";
import { expandVariables, type Variables } from "./expand.js";
import { checkSameResource } from "./same-resource.js";
import type { BridgingSettings, Connection, ListenSettings, UpstreamSettings } from "./settings.js";
import { UsageError } from "./usage-error.js";

export interface Config {
  readonly listen: Partial<ListenSettings>;
  readonly upstreams: readonly UpstreamSettings[];
  /** What was read but means nothing, for the log. */
  readonly warnings: readonly string[];
}

export interface ConfigSource {
  readonly text: string;
  /** For messages. */
  readonly name: string;
  readonly variables: Variables;
  /** What holds where the file says nothing. */
  readonly bridging: BridgingSettings;
}

function parseText(source: ConfigSource): ConfigFile {
  let value: unknown;
  try {
    value = JSON.parse(toPlainJson(source.text));
  } catch (error) {
    throw new UsageError(
      `${source.name} is no JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
  const missing: string[] = [];
  const expanded = expandAll(value, (text) => {
    const expansion = expandVariables(text, source.variables);
    missing.push(...expansion.missing);
    return expansion.text;
  });
  if (missing.length > 0) {
    throw new UsageError(
      `${source.name} names variables that are not set: ${[...new Set(missing)].join(", ")}`,
      `\${NAME:-default} gives a default`,
    );
  }
  const parsed = configSchema.safeParse(expanded);
  if (!parsed.success) throw new UsageError(`${source.name}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function expandAll(value: unknown, expand: (text: string) => string): unknown {
  if (typeof value === "string") return expand(value);
  if (Array.isArray(value)) return value.map((item) => expandAll(item, expand));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandAll(item, expand)]),
  );
}

function toConnection(name: string, entry: ServerEntry): Connection {
  if ((entry.command === undefined) === (entry.url === undefined)) {
    throw new UsageError(`server ${name} needs either a command or a url`);
  }
  const unset = JSON.stringify(entry).match(/\$\{[a-z]+:[^}]*\}/i)?.[0];
  if (unset !== undefined) throw new UsageError(`server ${name}: nobody here can fill ${unset}`);
  if (entry.url !== undefined) {
    if (!/^(https?|wss?):$/.test(URL.canParse(entry.url) ? new URL(entry.url).protocol : "")) {
      throw new UsageError(`server ${name}: ${entry.url} is no http(s) or ws(s) URL`);
    }
    const headers = Object.entries(entry.headers ?? {});
    return {
      type: "url",
      url: entry.url,
      headers: Object.fromEntries(headers.map(([key, value]) => [key.toLowerCase(), value])),
    };
  }
  const env = Object.entries(entry.env ?? {}).filter(
    (pair): pair is [string, string] => pair[1] !== null,
  );
  return {
    type: "command",
    command: entry.command ?? "",
    args: entry.args ?? [],
    env: Object.fromEntries(env),
    inheritEnv: entry.inheritEnv ?? false,
    cwd: entry.cwd,
  };
}

function toBridging(entry: BridgingEntry, base: BridgingSettings): BridgingSettings {
  const own: readonly [keyof Limits, number | undefined][] = [
    ["requestTimeoutMs", entry.requestTimeout],
    ["parkMs", entry.parkTimeout],
    ["sessionIdleMs", entry.sessionIdle],
    ["maxMessageBytes", entry.maxBody],
  ];
  const limits = Object.fromEntries(own.filter(([, value]) => value !== undefined));
  return {
    upstreamEra: entry.upstreamEra ?? base.upstreamEra,
    probe: entry.probe ?? base.probe,
    frontEra: entry.frontEra ?? base.frontEra,
    sessionPolicy: entry.sessionPolicy ?? base.sessionPolicy,
    attribution: entry.attribution ?? base.attribution,
    forwardUnknown: entry.forwardUnknown ?? base.forwardUnknown,
    sameResource: entry.sameResource ?? base.sameResource,
    lazy: entry.lazy ?? base.lazy,
    limits: { ...base.limits, ...entry.limits, ...limits },
  };
}

function checkProbe({ name, probe, upstreamEra }: UpstreamSettings): void {
  if (probe !== "none" || upstreamEra !== undefined) return;
  throw new UsageError(`server ${name}: probe none needs upstreamEra`);
}

function toListen(config: ConfigFile): Partial<ListenSettings> {
  const { host, port, tokens, allowAnonymous, allowedOrigins, allowedHosts } = config;
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(tokens === undefined
      ? {}
      : { tokens: Object.entries(tokens).map(([principal, secret]) => ({ principal, secret })) }),
    ...(allowAnonymous === undefined ? {} : { allowAnonymous }),
    ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
    ...(allowedHosts === undefined ? {} : { allowedHosts }),
  };
}

/**
 * Reads a configuration file: our own `upstreams`, the `mcpServers` of many clients, or the `servers`
 * of VS Code; all three together if need be. Throws UsageError when something in it cannot be.
 */
export function readConfig(source: ConfigSource): Config {
  const config = parseText(source);
  const defaults = toBridging(config.defaults ?? {}, source.bridging);
  const groups = [config.upstreams, config.mcpServers, config.servers];
  const entries = groups.flatMap((group) => Object.entries(group ?? {}));
  const enabled = entries.filter(([, entry]) => entry.disabled !== true);
  const names = enabled.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`${source.name} has two servers ${twice}`);
  if (enabled.length === 0)
    throw new UsageError(`${source.name} has no server in upstreams, mcpServers or servers`);
  const upstreams = enabled.map(([name, entry]) => ({
    name,
    connection: toConnection(name, entry),
    ...toBridging(entry, defaults),
  }));
  upstreams.forEach(checkProbe);
  upstreams.forEach(checkSameResource);
  return {
    listen: toListen(config),
    upstreams,
    warnings: unknownMembers(config).map((path) => `${source.name}: nobody reads ${path}`),
  };
}
