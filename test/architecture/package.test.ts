import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modernRequest } from "../support/cli.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "erabridge-package-"));
const bin = join(folder, "node_modules", ".bin", "erabridge");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The least a legacy server can be, for a machine that has nothing but Node. */
const SERVER = `
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const results = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "tiny", version: "1" } },
    "tools/list": { tools: [{ name: "one", inputSchema: { type: "object" } }] },
  };
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});`;

let files: readonly string[] = [];

beforeAll(async () => {
  const packed = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  const json = packed.stdout.slice(packed.stdout.indexOf("[\n"));
  const [tarball] = JSON.parse(json) as { filename: string; files: { path: string }[] }[];
  files = tarball?.files.map(({ path }) => path) ?? [];
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, "server.js"), SERVER);
  const options = ["--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...options, `./${tarball?.filename}`], { cwd: folder });
}, 180_000);

describe("the package, installed elsewhere", () => {
  it("has what it needs to run and nothing of its making", () => {
    expect(files).toContain("dist/adapters/cli/main.js");
    expect(files).toContain("dist/src/index.d.ts");
    expect(files).toContain("compat-matrix.md");
    expect(files).toContain("LICENSE");
    const strange = files.filter(
      (path) =>
        !/^(dist\/(src|adapters)\/.*\.(js|d\.ts)|[\w-]+\.md|LICENSE|package\.json)$/.test(path),
    );
    expect(strange).toEqual([]);
  });

  it("prints its help", async () => {
    const { stdout } = await run(bin, ["--help"], { cwd: folder });
    expect(stdout).toContain("erabridge wrap [options] -- <command>");
  });

  it("shows the demonstration", async () => {
    const { stdout } = await run(bin, ["demo"], { cwd: folder });
    expect(stdout).toContain("input_required");
  });

  it("wraps a server", async () => {
    const child = spawn(bin, ["wrap", "--", process.execPath, "server.js"], { cwd: folder });
    child.stdin.end(`${modernRequest(1, "tools/list")}\n`);
    let out = "";
    for await (const chunk of child.stdout) out += chunk;
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { tools: [{ name: "one" }] } });
  });

  it("can be imported by name", async () => {
    const script = `
      import { createBridge } from "erabridge";
      import { createChildTarget } from "erabridge/adapters/stdio/child";
      console.log(typeof createBridge, typeof createChildTarget);`;
    writeFileSync(join(folder, "use.js"), script);
    const { stdout } = await run(process.execPath, ["use.js"], { cwd: folder });
    expect(stdout).toBe("function function\n");
  });
});
