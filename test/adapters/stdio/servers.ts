import { readFileSync } from "node:fs";
import type { ChildTargetOptions } from "../../../adapters/stdio/child.js";

/** A server written down in JavaScript, started with this Node. */
export function scripted(source: string): ChildTargetOptions {
  return { command: process.execPath, args: ["-e", source], limits: { stopGraceMs: 300 } };
}

/** Sends every line back; a line that starts with `!` is an order. */
export const ECHO = `
  const { createInterface } = require("node:readline");
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    if (line.startsWith("!say ")) process.stdout.write(line.slice(5) + "\\n");
    else if (line === "!leave") process.exit(3);
    else if (line === "!stall") { lines.pause(); setInterval(() => {}, 1000); }
    else process.stdout.write(line + "\\n");
  });
  lines.on("close", () => process.exit(0));
`;

/** True while a process runs; one that only waits to be collected by its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch (error) {
    return process.platform !== "linux" && (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** Looks again until the condition holds; for what other processes do. */
export async function eventually(condition: () => boolean, ms = 5_000): Promise<void> {
  const until = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > until) throw new Error("it did not come to be in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
