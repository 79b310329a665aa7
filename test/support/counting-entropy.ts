import type { Entropy } from "../../src/index.js";

/** Tokens that can be written into expectations: `t1`, `t2`, and so on. */
export function createCountingEntropy(prefix = "t"): Entropy {
  let count = 0;
  return { token: () => `${prefix}${++count}` };
}
