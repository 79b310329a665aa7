import { describe, expect, it } from "vitest";
import { expandVariables } from "../../../adapters/sidecar/expand.js";

describe("variables in a configuration", () => {
  it.each([
    ["Bearer ${KEY}", "Bearer k"],
    ["${env:KEY}/${KEY}", "k/k"],
    ["${NONE:-fallback}", "fallback"],
    ["${NONE:-}", ""],
    ["${KEY:-fallback}", "k"],
    ["$KEY and $$", "$KEY and $$"],
    ["${NEST}", "${KEY}"],
    ["${input:token}", "${input:token}"],
  ])("%j becomes %j", (text, expected) => {
    expect(expandVariables(text, { KEY: "k", NEST: "${KEY}" })).toEqual({
      text: expected,
      missing: [],
    });
  });

  it("that are not set are named", () => {
    expect(expandVariables("${A}-${KEY}-${B}", { KEY: "k" }).missing).toEqual(["A", "B"]);
  });
});
