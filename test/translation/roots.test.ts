import { expect, test } from "vitest";
import { coversRoots } from "../../src/translation/roots.js";

test("roots are declared by an object", () => {
  expect(coversRoots('{"roots":{}}')).toBe(true);
  expect(coversRoots('{"roots":null}')).toBe(false);
  expect(coversRoots("{}")).toBe(false);
});
