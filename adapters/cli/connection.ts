import { expandVariables, type Variables } from "../sidecar/expand.js";
import type { Connection } from "../sidecar/settings.js";
import { UsageError } from "../sidecar/usage-error.js";
import { isUrl, type Values } from "./values.js";

/** A value with its `${VAR}` filled in. Throws UsageError for a variable that is not set. */
export function expanded(text: string, env: Variables, option: string): string {
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

/** The server of the command line, if it names one. Throws UsageError for two. */
export function readConnection(values: Values, env: Variables): Connection | undefined {
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
