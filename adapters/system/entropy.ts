import { randomBytes } from "node:crypto";
import type { Entropy } from "../../src/index.js";

/** Tokens of 22 characters (base64url) from the system's random source. */
export function createSystemEntropy(): Entropy {
  return { token: () => randomBytes(16).toString("base64url") };
}
