import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Variables } from "../sidecar/expand.js";
import type { CommandConnection } from "../sidecar/settings.js";

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** True when the system will find the command's program: in PATH, or where its path says. */
export function findCommand({ command, cwd, env }: CommandConnection, own: Variables): boolean {
  const endings = process.platform === "win32" ? ["", ".exe", ".cmd", ".bat", ".com"] : [""];
  const found = (path: string) => endings.some((ending) => isProgram(path + ending));
  if (/[\\/]/.test(command)) return found(resolve(cwd ?? ".", command));
  const path = env["PATH"] ?? own["PATH"] ?? own["Path"] ?? "";
  return path.split(delimiter).some((folder) => found(join(folder, command)));
}
