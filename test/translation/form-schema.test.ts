import { describe, expect, test } from "vitest";
import { createDraft } from "../../src/jsonrpc/draft.js";
import { lowerFormSchema } from "../../src/translation/form-schema.js";

function lower(properties: string): { readonly schema: string; readonly problem?: string } {
  const draft = createDraft(`{"type":"object","properties":${properties}}`);
  const problem = lowerFormSchema(draft);
  const schema = draft.text().slice('{"type":"object","properties":'.length, -1);
  return problem === undefined ? { schema } : { schema, problem };
}

describe("a form for clients of 2025-06-18", () => {
  test.each([
    '{"a":{"type":"string","format":"email","maxLength":5}}',
    '{"a":{"type":"string","enum":["x"],"enumNames":["X"]}}',
    '{"a":{"type":"boolean","default":true}}',
    '{"a":{"type":"integer","minimum":1.0}}',
    "{}",
  ])("keeps %s", (properties) => {
    expect(lower(properties)).toEqual({ schema: properties });
  });

  test("has titled choices as names beside the values, and untitled ones named by themselves", () => {
    expect(
      lower('{"a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y"}]}}'),
    ).toEqual({ schema: '{"a":{"type":"string","enum":["x","y"],"enumNames":["X","y"]}}' });
  });

  test("has no default where that revision knows none", () => {
    expect(
      lower('{"a":{"type":"string","default":"x"},"n":{"default":1,"type":"number"}}'),
    ).toEqual({
      schema: '{"a":{"type":"string"},"n":{"type":"number"}}',
    });
  });

  test("cannot have a field of several values", () => {
    expect(lower('{"a":{"type":"array","items":{"anyOf":[]}}}').problem).toContain("the field a");
  });
});
