import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BenchCase } from "./cases.js";

/** Something that answers MCP requests over HTTP, each in a process of its own. */
export interface Subject {
  readonly name: "direct" | "floor" | "bridge";
  readonly era: "legacy" | "modern";
  readonly url: string;
  /** Processor milliseconds the process has used; undefined where the system does not tell. */
  cpu(): number | undefined;
}

export interface Subjects {
  readonly list: readonly Subject[];
  close(): void;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const BRIDGE = here("../../dist/adapters/cli/main.js");

/** Node's arguments that run a TypeScript file of this folder. */
function script(name: string, ...args: readonly string[]): readonly string[] {
  return ["--import", import.meta.resolve("tsx"), here(name), ...args];
}

function cpuOf(child: ChildProcess): number | undefined {
  try {
    const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

/** Starts a process that prints a line with its URL, and reads that line. */
function start(args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let seen = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${args.join(" ")}: exit ${code}\n${seen}`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
      const url = /https?:\/\/\S+(?=\s)/.exec(seen)?.[0];
      if (url !== undefined) resolve({ child, url });
    });
  });
}

export interface SubjectOptions {
  readonly wanted: readonly string[];
  /** Options of `erabridge serve`. */
  readonly bridge: readonly string[];
  /** Options of Node for the bridge's process. */
  readonly node: readonly string[];
}

/** Starts the upstream of a case and the subjects in front of it. */
export async function openSubjects(bench: BenchCase, options: SubjectOptions): Promise<Subjects> {
  const children: ChildProcess[] = [];
  const list: Subject[] = [];
  const open = async (name: Subject["name"], era: Subject["era"], args: readonly string[]) => {
    const { child, url } = await start(args);
    children.push(child);
    if (wanted.includes(name)) list.push({ name, era, url, cpu: () => cpuOf(child) });
    return url;
  };
  const { wanted } = options;
  const serve = [BRIDGE, "serve", "--port", "0", "--log-level", "warn"];
  const bridge = [...options.node, ...serve, ...options.bridge];
  try {
    if (bench.upstream === "stdio") {
      const server = script("legacy-server.ts", "stdio");
      await open("floor", "legacy", script("floor.ts", "stdio", process.execPath, ...server));
      if (wanted.includes("bridge")) {
        await open("bridge", "modern", [...bridge, "--", process.execPath, ...server]);
      }
    } else {
      const answers = bench.upstream === "http-sse" ? "sse" : "json";
      const url = await open("direct", "legacy", script("legacy-server.ts", "http", answers));
      if (wanted.includes("floor")) await open("floor", "legacy", script("floor.ts", "http", url));
      if (wanted.includes("bridge")) await open("bridge", "modern", [...bridge, url]);
    }
  } catch (error) {
    for (const child of children) child.kill();
    throw error;
  }
  return {
    list,
    close() {
      for (const child of children) child.kill();
    },
  };
}
