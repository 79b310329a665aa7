import { expect, test } from "vitest";
import { createSystemEntropy } from "../../../adapters/system/entropy.js";

test("tokens are 128 bits of URL-safe text and do not repeat", () => {
  const entropy = createSystemEntropy();
  const tokens = Array.from({ length: 1_000 }, () => entropy.token());
  expect(new Set(tokens).size).toBe(1_000);
  for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{22}$/);
});
