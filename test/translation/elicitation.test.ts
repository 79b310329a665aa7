import { expect, test } from "vitest";
import { coversElicitation, elicitationCapability } from "../../src/translation/elicitation.js";

test("an empty declaration means form mode only", () => {
  expect(coversElicitation('{"elicitation":{}}', undefined)).toBe(true);
  expect(coversElicitation('{"elicitation":{}}', '{"mode":"url"}')).toBe(false);
});

test("a question without a mode is a form", () => {
  expect(coversElicitation('{"elicitation":{"url":{}}}', '{"message":"x"}')).toBe(false);
  expect(elicitationCapability('{"message":"x"}')).toBe('{"elicitation":{"form":{}}}');
});
