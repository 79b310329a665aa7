import type { Draft } from "../jsonrpc/draft.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "result-type",
  feature: "`resultType` on every result",
  modernClient: {
    fate: "translated",
    how: 'Every result of a legacy server gains `resultType: "complete"`; a legacy member of that name is overwritten.',
  },
  legacyClient: {
    fate: "translated",
    how: "`resultType` is removed; a result without it counts as complete; an unknown value is an invalid answer (-32603).",
  },
  loss: "none",
  spec: ["2026-07-28/basic"],
  about: ["resultType"],
};

/** A modern client considers a result without a known `resultType` invalid. */
export function stampResultType(result: Draft): void {
  result.set("resultType", '"complete"');
}
