import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const OUT = fileURLToPath(new URL("../../dist/.conformance", import.meta.url));

/** Changes with any source of this folder. */
function digest(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(HERE, { recursive: true, encoding: "utf8" }).sort()) {
    if (name.endsWith(".ts")) hash.update(name).update(readFileSync(join(HERE, name)));
  }
  return hash.digest("hex").slice(0, 16);
}

/**
 * A program of this folder as one JavaScript file, made when it is not there yet. A scenario may wait
 * for well under a second for a server that a bridge starts in the middle of it, so nothing is compiled
 * and few files are read then.
 */
export function compiled(file: string): string {
  const name = file.replace(/\.ts$/, "");
  const outfile = join(OUT, `${name}-${digest()}.mjs`);
  if (existsSync(outfile)) return outfile;
  // Several runners may compile at the same time: each puts a whole file in its place.
  const draft = `${outfile}.${process.pid}.mjs`;
  buildSync({
    entryPoints: [join(HERE, file)],
    outfile: draft,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    // Packages in CommonJS ask for modules of Node by `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  renameSync(draft, outfile);
  return outfile;
}
