import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { readArguments } from "../../adapters/cli/arguments.js";
import { EXIT } from "../../adapters/cli/exit-codes.js";
import { readConfig } from "../../adapters/sidecar/config.js";
import { DEFAULT_BRIDGING } from "../../adapters/sidecar/settings.js";
import { postModern, runCli, STDIO_SERVER } from "../support/cli.js";
import { freePort, startProcess } from "../support/process.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const scripts = JSON.parse(readFileSync(`${root}package.json`, "utf8")).scripts as object;

function blocks(language: string): readonly string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    (match) => match[1] ?? "",
  );
}

/** Splits a line as a shell does, for the simple quotes of this page. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
}

const lines = blocks("sh").flatMap((block) => block.trimEnd().split("\n"));
const ENV = { CI_TOKEN: "secret" };

describe("the README's command lines", () => {
  it("are two for newcomers, both of scripts that exist", () => {
    expect(lines.filter((line) => line.startsWith("npm"))).toEqual([
      "npm ci && npm start",
      "npm ci && npm test",
    ]);
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
  });

  it("npm start builds and shows the demonstration", async () => {
    const { stdout } = await promisify(execFile)("npm", ["start", "--silent"], { cwd: root });
    expect(stdout).toContain("input_required");
  }, 60_000);

  it.each(lines.filter((line) => line.startsWith("erabridge")))("%s is understood", (line) => {
    expect(readArguments(words(line).slice(1), ENV)).toMatchObject({ type: "run" });
  });

  it("erabridge explain does what the page says", async () => {
    const line = lines.find((each) => each.startsWith("erabridge explain"));
    const cli = runCli(words(line ?? "").slice(1));
    expect(await cli.exit).toBe(0);
  });
});

describe("the README's configurations", () => {
  const read = (text: string | undefined) =>
    readConfig({ text: text ?? "", name: "README", variables: {}, bridging: DEFAULT_BRIDGING });
  const [before, after, sidecar] = blocks("json");

  it("before and after start the same server", () => {
    const plain = read(before).upstreams[0]?.connection;
    const wrapped = read(after).upstreams[0]?.connection;
    if (wrapped?.type !== "command") throw new Error("no command");
    const argv = wrapped.args.slice(wrapped.args.indexOf("erabridge") + 1);
    expect(readArguments(argv, {})).toMatchObject({
      command: "wrap",
      options: { connection: plain },
    });
  });

  it("of the sidecar is read without a warning", () => {
    const config = read(sidecar);
    expect(config.warnings).toEqual([]);
    expect(config.upstreams.map(({ name }) => name)).toEqual(["everything", "web"]);
  });
});

describe("the README's example", () => {
  const folder = `${root}dist/.test-types/readme`;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("serves in an Express application, and leaves nothing when it ends", async () => {
    const [example = ""] = blocks("ts");
    const port = await freePort();
    expect(example).toContain("8080");
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/example.mjs`, example.replace("8080", `${port}`));
    const [, ...args] = STDIO_SERVER;
    const server = `import { spawn } from "node:child_process";
spawn(process.execPath, ${JSON.stringify(args)}, { stdio: "inherit" });`;
    writeFileSync(`${folder}/server.js`, server);
    const running = startProcess(process.execPath, ["example.mjs"], { cwd: folder });
    try {
      const url = `http://127.0.0.1:${port}/mcp`;
      await expect
        .poll(() => postModern(url, "tools/list").catch((error: Error) => error.message), {
          timeout: 10_000,
        })
        .toMatchObject({ status: 200, message: { result: { resultType: "complete" } } });
    } finally {
      expect(await running.stop()).toBe(0);
    }
  });
});

describe("the README", () => {
  it("links only to what is there", () => {
    const links = [...readme.matchAll(/\]\(([^):#]+)\)/g)].map((match) => match[1] ?? "");
    for (const link of links) expect(existsSync(`${root}${link}`), link).toBe(true);
  });

  it("lists every exit code", () => {
    for (const code of Object.values(EXIT))
      expect(readme).toMatch(new RegExp(`^\\| ${code} \\|`, "m"));
  });
});
