import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServerRecord } from "./catalogue.js";
import { giveToNobody } from "./isolation.js";
import { bridgeFolder, type Place } from "./places.js";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const INSTALL_MS = 240_000;
/** Scripts of published packages would run outside the isolation. */
const OPTIONS = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--loglevel=error"];

/** Runs npm; resolves with what it printed, rejects with its last words. */
function npm(args: readonly string[], cwd: string, timeout = INSTALL_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err = (err + chunk.toString()).slice(-400);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(out);
      else reject(new Error(`npm ${args[0]}: ${code ?? signal} ${err.trim()}`));
    });
  });
}

async function installInto(folder: string, specifier: string, waitMs?: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "lab", "private": true }\n');
  await npm(["install", ...OPTIONS, "--prefix", folder, specifier], folder, waitMs);
}

function isInstalled({ package: name, version }: ServerRecord, folder: string): boolean {
  const manifest = join(folder, "node_modules", name, "package.json");
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version;
}

/** Installs a server unless it is there; true when this call did it. */
export async function installServer(
  record: ServerRecord,
  { folder }: Place,
  waitMs: number,
): Promise<boolean> {
  const there = isInstalled(record, folder);
  const specifier = `${record.package}@${record.version}`;
  if (!there) await installInto(folder, specifier, Math.min(waitMs, INSTALL_MS));
  const program = join(folder, record.bin);
  if (!existsSync(program)) throw new Error(`no ${record.bin} in it`);
  // What the package's own script would have done.
  if (record.runtime === "native") chmodSync(program, 0o755);
  if (!there) giveToNobody(folder);
  return !there;
}

/** Packs the built project and installs it as its users would. */
export async function installBridge(scratch: string): Promise<void> {
  const folder = bridgeFolder(scratch);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed = await npm(
    ["pack", "--ignore-scripts", "--json", "--pack-destination", folder],
    PROJECT,
  );
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  await installInto(folder, join(folder, filename));
}
