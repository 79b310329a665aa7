import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const foldersOf = (path: string) =>
  readdirSync(`${root}/${path}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

it("src and adapters import only what their layer may see", async () => {
  const cruiser = `${root}/node_modules/dependency-cruiser/bin/dependency-cruise.mjs`;
  const args = [cruiser, "--config", ".dependency-cruiser.cjs", "src", "adapters"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toContain("no dependency violations found");
});

it.each(["src", "adapters"])("the map in %s/README.md names every folder and no other", (path) => {
  const map = readFileSync(`${root}/${path}/README.md`, "utf8");
  const named = [...map.matchAll(/^\| \[([\w/]+)\]\(\1\)/gm)].map((match) => match[1]);
  expect(new Set(named)).toEqual(new Set(foldersOf(path)));
});

it("the two eras of the wire do not know each other", () => {
  for (const [era, other] of [
    ["legacy", "modern"],
    ["modern", "legacy"],
  ]) {
    for (const file of readdirSync(`${root}/src/wire/${era}`)) {
      const text = readFileSync(`${root}/src/wire/${era}/${file}`, "utf8");
      expect(text, `${era}/${file}`).not.toContain(`/${other}/`);
    }
  }
});

it("src compiles without a host's types", () => {
  const config = JSON.parse(readFileSync(`${root}/src/tsconfig.json`, "utf8")) as {
    compilerOptions: { types: string[]; lib: string[] };
  };
  expect(config.compilerOptions).toMatchObject({ types: [], lib: ["ES2023"] });
});
