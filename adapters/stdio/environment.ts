/** What a program cannot be expected to run without; nothing here is a credential. */
const POSIX_NAMES = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];
const WINDOWS_NAMES = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

export interface EnvironmentOptions {
  /** Hands on everything this process has, instead of the few names a program needs. */
  readonly inherit?: boolean | undefined;
  /** Added, and stronger than what is inherited. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** The environment of a server process: minimal, so that this process's secrets stay here. */
export function toChildEnvironment(
  options: EnvironmentOptions,
  own: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const names = platform === "win32" ? WINDOWS_NAMES : POSIX_NAMES;
  const passes = (name: string): boolean =>
    options.inherit === true || names.includes(platform === "win32" ? name.toUpperCase() : name);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && passes(name)) environment[name] = value;
  }
  return { ...environment, ...options.variables };
}
