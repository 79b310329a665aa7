import { RULES, type Rule } from "../../src/index.js";
import { UsageError } from "../sidecar/usage-error.js";
import type { Command } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { closest } from "./values.js";

const DIRECTIONS = [
  ["modernClient", "modern client, legacy server"],
  ["legacyClient", "legacy client, modern server"],
] as const;

/** The rows that are about a method, a field or a feature; an exact name beats a part of one. */
export function findRules(word: string): readonly Rule[] {
  const wanted = word.toLowerCase();
  const names = ({ id, about }: Rule) => [id, ...about].map((name) => name.toLowerCase());
  const exact = RULES.filter((rule) => names(rule).includes(wanted));
  if (exact.length > 0) return exact;
  return RULES.filter((rule) =>
    [...names(rule), rule.feature.toLowerCase()].some((name) => name.includes(wanted)),
  );
}

/** One row for people to read. */
export function formatRule(rule: Rule): string {
  const crossings = DIRECTIONS.flatMap(([side, title]) => [
    `  ${title}: ${rule[side].fate}`,
    `    ${rule[side].how}`,
  ]);
  const spec = rule.spec.map((page) => `    ${page}`);
  return [
    `${rule.id}: ${rule.feature}`,
    ...crossings,
    `  lost: ${rule.loss}`,
    "  specification:",
    ...spec,
  ].join("\n");
}

function formatIndex(): string {
  const width = Math.max(...RULES.map(({ id }) => id.length));
  const line = (id: string, a: string, b: string, feature: string) =>
    `${id.padEnd(width)}  ${a.padEnd(14)} ${b.padEnd(14)} ${feature}`;
  return [
    line("row", "modern client", "legacy client", "feature"),
    ...RULES.map(({ id, modernClient, legacyClient, feature }) =>
      line(id, modernClient.fate, legacyClient.fate, feature),
    ),
  ].join("\n");
}

/** The compatibility matrix: one row, some rows, or the list of all. */
export const explain: Command = async ({ words, json }, { out }) => {
  const word = words.join(" ");
  const rules = word === "" ? RULES : findRules(word);
  if (rules.length === 0) {
    const meant = closest(
      word,
      RULES.flatMap(({ id, about }) => [id, ...about]),
    );
    throw new UsageError(
      `no row of the matrix is about ${word}: it is carried as it comes`,
      meant === undefined ? "erabridge explain lists all rows" : `did you mean ${meant}?`,
    );
  }
  if (json) out(`${JSON.stringify(rules, null, 2)}\n`);
  else out(`${word === "" ? formatIndex() : rules.map(formatRule).join("\n\n")}\n`);
  return EXIT.ok;
};
