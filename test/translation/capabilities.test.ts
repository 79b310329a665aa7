import { describe, expect, test } from "vitest";
import { normalizeCapabilities, toLegacyCapabilities } from "../../src/translation/capabilities.js";

describe("what initialize declares", () => {
  test("listChanged of roots and client tasks are not declared", () => {
    expect(
      toLegacyCapabilities('{"roots":{"listChanged":true},"tasks":{"list":{}},"sampling":{}}'),
    ).toBe('{"roots":{},"sampling":{}}');
  });

  test("empty elicitation is not widened", () => {
    expect(toLegacyCapabilities('{"elicitation":{}}')).toBe('{"elicitation":{}}');
  });

  test("extensions pass, but those that hold between neighbours only", () => {
    expect(
      toLegacyCapabilities(
        '{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a"]},"io.modelcontextprotocol/tasks":{}}}',
      ),
    ).toBe('{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["a"]}}}');
    expect(toLegacyCapabilities('{"extensions":{"io.modelcontextprotocol/tasks":{}}}')).toBe("{}");
  });
});

describe("which capabilities share a session", () => {
  test.each([
    ['{"elicitation":{}}', '{"elicitation":{"form":{}}}'],
    ['{"sampling":{},"roots":{}}', '{"roots":{},"sampling":{}}'],
    ['{"roots":{"listChanged":true}}', '{"roots":{}}'],
    ['{"experimental":{"a":1.0}}', '{"experimental":{"a":1}}'],
  ])("%s and %s", (one, other) => {
    expect(normalizeCapabilities(one)).toBe(normalizeCapabilities(other));
  });

  test.each([
    ["{}", '{"elicitation":{}}'],
    ['{"elicitation":{}}', '{"elicitation":{"url":{}}}'],
    ['{"elicitation":{"url":{}}}', '{"elicitation":{"form":{},"url":{}}}'],
    ['{"sampling":{}}', '{"sampling":{"tools":{}}}'],
  ])("but not %s and %s", (one, other) => {
    expect(normalizeCapabilities(one)).not.toBe(normalizeCapabilities(other));
  });
});
