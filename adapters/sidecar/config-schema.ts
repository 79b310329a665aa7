import * as z from "zod";
import { describeLimit, isLimitName, parseDuration, parseLimit, parseSize } from "./quantities.js";
import { ATTRIBUTIONS, ERA_PATTERN, FRONT_ERAS, PROBES, toSessionPolicy } from "./settings.js";

function quantity(parse: (text: string) => number | undefined, example: string) {
  return z.union([z.number(), z.string()]).transform((value, context) => {
    const parsed = parse(String(value));
    if (parsed !== undefined) return parsed;
    context.addIssue(`write it as ${example}`);
    return z.NEVER;
  });
}

const duration = quantity(parseDuration, "30s");

const limits = z
  .record(z.string(), z.union([z.number(), z.string()]))
  .transform((texts, context) => {
    const parsed: Record<string, number> = {};
    for (const [name, text] of Object.entries(texts)) {
      const value = isLimitName(name) ? parseLimit(name, String(text)) : undefined;
      if (value !== undefined) parsed[name] = value;
      else if (isLimitName(name)) context.addIssue(`${name} must be ${describeLimit(name)}`);
      else context.addIssue(`there is no limit ${name}`);
    }
    return parsed;
  });

const sessionPolicy = z.string().transform((text, context) => {
  const policy = toSessionPolicy(text);
  if (policy !== undefined) return policy;
  context.addIssue("shared, exclusive, pool:N or per-call");
  return z.NEVER;
});

/** How servers are bridged: for all of a file in `defaults`, and for one of them beside its command or URL. */
const bridging = {
  upstreamEra: z.string().regex(ERA_PATTERN, "legacy, modern or a revision").optional(),
  probe: z.enum(PROBES).optional(),
  frontEra: z.enum(FRONT_ERAS).optional(),
  sessionPolicy: sessionPolicy.optional(),
  attribution: z.enum(ATTRIBUTIONS).optional(),
  forwardUnknown: z.boolean().optional(),
  sameResource: z.boolean().optional(),
  lazy: z.boolean().optional(),
  requestTimeout: duration.optional(),
  parkTimeout: duration.optional(),
  sessionIdle: duration.optional(),
  maxBody: quantity(parseSize, "64mb").optional(),
  limits: limits.optional(),
};

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const server = {
  command: z.string().min(1).optional(),
  args: z.array(text).optional(),
  env: z.record(z.string(), text.nullable()).optional(),
  inheritEnv: z.boolean().optional(),
  cwd: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), text).optional(),
  disabled: z.boolean().optional(),
  ...bridging,
};

const servers = z.record(z.string().min(1), z.looseObject(server)).optional();

const file = {
  host: z.string().optional(),
  port: z.number().int().min(0).max(65_535).optional(),
  tokens: z.record(z.string(), z.string()).optional(),
  allowAnonymous: z.boolean().optional(),
  allowedOrigins: z.array(z.string()).optional(),
  allowedHosts: z.array(z.string()).optional(),
  defaults: z.looseObject(bridging).optional(),
  upstreams: servers,
  mcpServers: servers,
  servers,
};

/** The configuration file. Unknown members stay, so that the reader can warn of them. */
export const configSchema = z.looseObject(file);

export type ConfigFile = z.infer<typeof configSchema>;
export type ServerEntry = NonNullable<ConfigFile["upstreams"]>[string];
export type BridgingEntry = NonNullable<ConfigFile["defaults"]>;

/** Members that other programs read in such files and that mean nothing here. */
const FOREIGN = new Set([
  "$schema",
  "inputs",
  "type",
  "transport",
  "description",
  "name",
  "envFile",
]);

function unknownIn(value: object, shape: object, path: string): readonly string[] {
  return Object.keys(value)
    .filter((key) => !Object.hasOwn(shape, key) && !FOREIGN.has(key))
    .map((key) => `${path}${key}`);
}

/** Where a file has members that nobody reads: a misspelling, most likely. */
export function unknownMembers(config: ConfigFile): readonly string[] {
  const groups = [
    ["upstreams", config.upstreams],
    ["mcpServers", config.mcpServers],
    ["servers", config.servers],
  ] as const;
  return [
    ...unknownIn(config, file, ""),
    ...unknownIn(config.defaults ?? {}, bridging, "defaults."),
    ...groups.flatMap(([group, entries]) =>
      Object.entries(entries ?? {}).flatMap(([name, entry]) =>
        unknownIn(entry, server, `${group}.${name}.`),
      ),
    ),
  ];
}
