import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Crossing, Rule } from "../../src/translation/rule.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Test files beyond a rule's own say which rules they show in a comment `rules: a, b`. */
const SHOWS = /^\/\/ rules: (.+)$/m;

function testFiles(): readonly string[] {
  return readdirSync(`${ROOT}test`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => `test/${path.replaceAll("\\", "/")}`)
    .sort();
}

/** The test files that show a rule: the one of its name, and those that say so. */
export function testsByRule(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const note = (id: string, file: string): void => {
    const files = found.get(id) ?? [];
    if (!files.includes(file)) files.push(file);
    found.set(id, files);
  };
  for (const file of testFiles()) {
    const own = /^test\/translation\/(.+)\.test\.ts$/.exec(file)?.[1];
    if (own !== undefined) note(own, file);
    const named = SHOWS.exec(readFileSync(`${ROOT}${file}`, "utf8"))?.[1];
    for (const id of named?.split(",") ?? []) note(id.trim(), file);
  }
  return found;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const crossing = ({ fate, how }: Crossing): string => `**${fate}** – ${cell(how)}`;
const link = (path: string): string =>
  `[${path.split("/").pop()?.replace(".test.ts", "")}](${path})`;

function page(spec: string): string {
  const [revision = "", ...path] = spec.split("/");
  return `[${revision} ${path.join("/")}](https://modelcontextprotocol.io/specification/${spec})`;
}

function row(rule: Rule, tests: readonly string[]): string {
  const cells = [
    `[\`${rule.id}\`](src/translation/${rule.id}.ts)<br>${cell(rule.feature)}`,
    crossing(rule.modernClient),
    crossing(rule.legacyClient),
    cell(rule.loss),
    rule.spec.map(page).join("<br>"),
    tests.map(link).join(", "),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The whole of `compat-matrix.md`. */
export function matrixText(rules: readonly Rule[]): string {
  const tests = testsByRule();
  return `# Compatibility matrix

What becomes of each difference between the eras: **legacy** revisions (2024-11-05 to 2025-11-25) and
the **modern** one (2026-07-28). Whatever has no row here is carried as it came, character by character.

Fates: **same** (carried as it is), **translated** (carried in another form), **answered-here** (the
bridge answers in the other side's place), **refused** (an error says why), **lost** (the column Loss says
where it shows). \`erabridge explain <method or feature>\` prints a row.

This page is made from the rules in \`src/translation/\` by \`npm run matrix\`; a test keeps it true.

| Rule | Modern client, legacy server | Legacy client, modern server | Loss | Specification | Tests |
|---|---|---|---|---|---|
${rules.map((rule) => row(rule, tests.get(rule.id) ?? [])).join("\n")}
`;
}
