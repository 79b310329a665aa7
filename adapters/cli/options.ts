export const COMMANDS = ["wrap", "serve", "check", "explain", "demo"] as const;
export type CommandName = (typeof COMMANDS)[number];

export function isCommandName(name: string): name is CommandName {
  return COMMANDS.some((command) => command === name);
}

interface OptionText {
  /** How its value is shown in the help; undefined for a flag. */
  readonly value?: string;
  /** It may be given several times. */
  readonly many?: true;
  readonly about: string;
}

/** One option: the only place that knows its name, its commands and its words in the help. */
export interface OptionSpec extends OptionText {
  readonly name: string;
  readonly commands: readonly CommandName[];
}

const LISTEN = {
  port: { value: "N", about: "port to listen on; 0 takes any free one (8080)" },
  host: { value: "ADDRESS", about: "address to listen on (127.0.0.1)" },
  path: { value: "PATH", about: "path of the endpoint (/mcp)" },
  config: { value: "FILE", about: "several servers, each at /mcp/<name>; SIGHUP reads it again" },
  token: { value: "[NAME:]SECRET", many: true, about: "token to ask for; a NAME is a principal" },
  "allow-anonymous": { about: "serve callers without a token where other machines come in" },
  "allow-origin": { value: "ORIGIN", many: true, about: "browser origin that may call" },
  "allow-host": { value: "NAME", many: true, about: "Host header to accept beside the address" },
  "same-resource": { about: "clients' credentials are meant for the server: pass them on" },
  "secret-file": { value: "FILE", about: "key that replicas share, to open each other's states" },
} as const satisfies Record<string, OptionText>;

const SERVER = {
  "upstream-era": { value: "ERA", about: "legacy, modern or a revision: skip finding out" },
  probe: { value: "HOW", about: "in-place, sibling (a throw-away process) or none (in-place)" },
  header: { value: "'NAME: VALUE'", many: true, about: "header for the server" },
  env: { value: "NAME[=VALUE]", many: true, about: "variable for the server's process" },
  "inherit-env": { about: "give the server's process the whole environment" },
  cwd: { value: "DIR", about: "working directory of the server's process" },
  "request-timeout": { value: "TIME", about: "wait for one answer, renewed by progress (15m)" },
  "max-body": { value: "SIZE", about: "longest message in either direction (64mb)" },
  limit: { value: "NAME=VALUE", many: true, about: "any limit by its name, e.g. maxSessions=64" },
  "log-level": { value: "LEVEL", about: "debug, info, warn, error or silent (info)" },
  "log-format": { value: "FORMAT", about: "text or json, on stderr (text)" },
} as const satisfies Record<string, OptionText>;

const FRONT = {
  "front-era": { value: "ERA", about: "auto, legacy or modern: what clients are offered (auto)" },
  lazy: { about: "start the server at the first request" },
  "session-policy": { value: "POLICY", about: "shared, exclusive, pool:N or per-call (shared)" },
  attribution: { value: "HOW", about: "adaptive or exclusive: whose call a question is of" },
  "forward-unknown": { about: "pass on methods no revision knows (on; --no-forward-unknown)" },
  "park-timeout": { value: "TIME", about: "wait for the client's answer to a question (10m)" },
  "session-idle": { value: "TIME", about: "close an unused session with the server (15m)" },
} as const satisfies Record<string, OptionText>;

const PIPE = {
  "eof-grace": { value: "TIME", about: "for calls in flight after the end of input (5s)" },
} as const satisfies Record<string, OptionText>;

const OUTPUT = {
  json: { about: "print JSON" },
} as const satisfies Record<string, OptionText>;

export type OptionName = keyof (typeof LISTEN &
  typeof SERVER &
  typeof FRONT &
  typeof PIPE &
  typeof OUTPUT);

function group(
  texts: Readonly<Record<string, OptionText>>,
  commands: readonly CommandName[],
): readonly OptionSpec[] {
  return Object.entries(texts).map(([name, text]) => ({ name, commands, ...text }));
}

export const OPTIONS: readonly OptionSpec[] = [
  ...group(LISTEN, ["serve"]),
  ...group(FRONT, ["wrap", "serve"]),
  ...group(PIPE, ["wrap"]),
  ...group(SERVER, ["wrap", "serve", "check"]),
  ...group(OUTPUT, ["check", "explain"]),
];

/** `ERABRIDGE_PORT` for `port`. */
export function variableOf(name: string): string {
  return `ERABRIDGE_${name.toUpperCase().replaceAll("-", "_")}`;
}
