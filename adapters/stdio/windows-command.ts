/** How a command is handed to `spawn`. */
export interface SpawnCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already (`windowsVerbatimArguments`). */
  readonly verbatim: boolean;
}

/**
 * A command as Windows can start it. Batch files, which package runners install, need `cmd.exe`,
 * and Node refuses to start them without it; their arguments are quoted so that `cmd.exe` passes
 * them on unchanged. Throws RangeError for an argument that cannot pass: one with a line break.
 */
export function toWindowsCommand(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  exists: (path: string) => boolean,
): SpawnCommand {
  const file = find(command, environment, exists) ?? command;
  if (!/\.(cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = [escapeMeta(file), ...args.map(quoteForBatch)].join(" ");
  const shell = variable(environment, "COMSPEC") ?? "cmd.exe";
  return { file: shell, args: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

/** The file a name stands for: itself, or with one of the executable extensions, along the path. */
function find(
  command: string,
  environment: Readonly<Record<string, string>>,
  exists: (path: string) => boolean,
): string | undefined {
  const listed = (variable(environment, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  const extensions = /\.[^\\/.]+$/.test(command) ? ["", ...listed] : listed;
  const folders = /[\\/]/.test(command) ? [""] : (variable(environment, "PATH") ?? "").split(";");
  for (const folder of folders) {
    const base = folder === "" ? command : `${folder.replace(/[\\/]+$/, "")}\\${command}`;
    for (const extension of extensions) {
      if (exists(base + extension.toLowerCase())) return base + extension.toLowerCase();
    }
  }
  return undefined;
}

/** Windows compares the names of variables without case. */
function variable(environment: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}

/**
 * First as a program's argument parser wants it (backslashes count only before a quote), then twice
 * for `cmd.exe`: it reads the line once, and a batch file that hands on `%*` reads it again.
 */
function quoteForBatch(argument: string): string {
  if (/[\r\n]/.test(argument))
    throw new RangeError("a batch file takes no argument with a line break");
  const quoted = `"${argument.replace(/(\\*)("|$)/g, (_, slashes: string, quote: string) =>
    quote === "" ? slashes + slashes : `${slashes}${slashes}\\"`,
  )}"`;
  return escapeMeta(escapeMeta(quoted));
}

function escapeMeta(text: string): string {
  return text.replace(/[ ()[\]{}%!^"`<>&|;,*?]/g, "^$&");
}
