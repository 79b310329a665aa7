import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const OUT = fileURLToPath(new URL("../../dist/.conformance", import.meta.url));

function sources(): readonly string[] {
  return readdirSync(HERE, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort();
}

/** Writes the whole file at once: several runners may compile at the same time. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

/**
 * The JavaScript of a program of this folder, made when it is not there yet. A scenario may wait for
 * well under a second for a server that a bridge starts in the middle of it, so nothing is compiled then.
 */
export function compiled(file: string): string {
  const texts = sources().map((name) => [name, readFileSync(join(HERE, name), "utf8")] as const);
  const digest = createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16);
  const folder = join(OUT, digest);
  const done = join(folder, "done");
  if (!existsSync(done)) {
    for (const [name, text] of texts) {
      const { outputText } = ts.transpileModule(text, {
        compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
      });
      write(join(folder, name.replace(/\.ts$/, ".js")), outputText);
    }
    write(join(folder, "package.json"), '{"type":"module"}');
    write(done, "");
  }
  return join(folder, file.replace(/\.ts$/, ".js"));
}
