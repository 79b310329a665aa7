import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const SOURCES = fileURLToPath(new URL(".", import.meta.url));
const BUILD_LIMIT_MS = 900_000;

/** Everything that is built or installed goes here, never into the repository. */
const SCRATCH = process.env["ERABRIDGE_PEERS_DIR"] ?? join(tmpdir(), "erabridge-peers");

/** How to start a peer: its program, and arguments before `stdio` or `http`. */
export type PeerCommand = readonly string[];

const execute = promisify(execFile);

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<void> {
  await execute(command, [...args], { cwd, timeout: BUILD_LIMIT_MS, maxBuffer: 64 * 2 ** 20 });
}

async function copied(folder: string): Promise<string> {
  const target = join(SCRATCH, folder);
  await mkdir(target, { recursive: true });
  await cp(join(SOURCES, folder), target, { recursive: true });
  return target;
}

/** A Python program in an environment with what its requirements file names. */
export async function buildPython(era: "legacy" | "modern", program: string): Promise<PeerCommand> {
  const folder = await copied("python");
  const environment = join(folder, `environment-${era}`);
  const python = join(environment, "bin", "python");
  if (!existsSync(python)) await run(folder, "python3", "-m", "venv", environment);
  const requirements = `requirements-${era}.txt`;
  await run(folder, python, "-m", "pip", "install", "--quiet", "--requirement", requirements);
  return [python, join(folder, program)];
}

export async function buildGo(era: "legacy" | "modern"): Promise<PeerCommand> {
  const folder = await copied("go");
  await cp(join(folder, "common.go"), join(folder, era, "common.go"));
  await run(join(folder, era), "go", "build", "-o", "peer", ".");
  return [join(folder, era, "peer")];
}

export async function buildRust(era: "legacy" | "modern"): Promise<PeerCommand> {
  const folder = await copied("rust");
  const built = join(folder, "target");
  await run(join(folder, era), "cargo", "build", "--quiet", "--target-dir", built);
  return [join(built, "debug", `rust-${era}`)];
}

export async function buildJava(): Promise<PeerCommand> {
  const folder = await copied("java");
  await run(folder, "mvn", "--quiet", "--batch-mode", "compile");
  const target = join(folder, "target");
  return ["java", "-cp", `${join(target, "classes")}:${join(target, "lib", "*")}`, "LegacyServer"];
}
