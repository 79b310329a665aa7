import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { RULES } from "../../src/translation/rules.js";
import { matrixText, testsByRule } from "./matrix-text.js";

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url);

test("compat-matrix.md is what the rules say (npm run matrix writes it)", () => {
  expect(readFileSync(at("compat-matrix.md"), "utf8")).toBe(matrixText(RULES));
});

test("every file that states a rule is a row, and every row has such a file", () => {
  const stated = readdirSync(at("src/translation"))
    .filter((name) =>
      readFileSync(at(`src/translation/${name}`), "utf8").includes("export const rule"),
    )
    .map((name) => name.replace(/\.ts$/, ""))
    .sort();
  expect(RULES.map((rule) => rule.id).sort()).toEqual(stated);
});

describe.each(RULES.map((rule) => [rule.id, rule] as const))("the row %s", (id, rule) => {
  test("has a test of its name", () => {
    expect(existsSync(at(`test/translation/${id}.test.ts`))).toBe(true);
  });

  test("names specification pages and words to find it by", () => {
    expect(rule.spec.length).toBeGreaterThan(0);
    expect(rule.about.length).toBeGreaterThan(0);
  });

  test("says what is lost where something is", () => {
    const lost = [rule.modernClient.fate, rule.legacyClient.fate].includes("lost");
    if (lost) expect(rule.loss).not.toBe("none");
    else expect(rule.loss).not.toBe("");
  });
});

test("no test claims a rule that does not exist", () => {
  const ids = new Set(RULES.map((rule) => rule.id));
  expect([...testsByRule().keys()].filter((id) => !ids.has(id) && !isPart(id))).toEqual([]);
});

/** Tests of translation files that serve a rule without being one (`lift`, `lower`). */
function isPart(id: string): boolean {
  const file = at(`src/translation/${id}.ts`);
  return existsSync(file) && !readFileSync(file, "utf8").includes("export const rule");
}
