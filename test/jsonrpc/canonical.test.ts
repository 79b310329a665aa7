import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalText } from "../../src/jsonrpc/canonical.js";
import { type JsonNode, jsonNode } from "../support/arbitraries.js";
import { cpuTime } from "../support/cpu-time.js";

describe("texts of equal value", () => {
  it.each([
    ["1", "1.0", "10e-1", "0.1E+1", "100e-2", "0.0001e4"],
    ["0", "-0", "0.000", "0e99"],
    ["-120", "-1.2e2", "-12E1"],
    ["9007199254740993", "9007199254740993.0", "9007199254740993e0"],
    ['"a"', '"\\u0061"'],
    ['{"a":1,"b":[true,null]}', '{ "b" : [ true , null ], "\\u0061" : 1.0 }'],
    ['{"a":2}', '{"a":1,"a":2}'],
    ["[]", "[ ]"],
    ["1e400", "10e399"],
  ])("are equal: %s and others", (first, ...others) => {
    for (const other of others) expect(canonicalText(other)).toBe(canonicalText(first));
  });

  it.each([
    ["9007199254740993", "9007199254740992"],
    ["1e400", "1e401"],
    ["1", "-1"],
    ["1", '"1"'],
    ["null", '"null"'],
    ["[1,2]", "[2,1]"],
    ['["a"]', '{"a":0}'],
    ['"\\ud83d"', '"\\ufffd"'],
    ["0.1", "0.10000000000000000001"],
  ])("are not %s and %s", (one, other) => {
    expect(canonicalText(one)).not.toBe(canonicalText(other));
  });

  it("are equal when they differ by spaces, escapes and the order of members", () => {
    const rewritten = ({ text, members }: JsonNode): string => {
      if (members === undefined) return text;
      const last = new Map(members.map(({ key, value }) => [key, rewritten(value)]));
      const parts = [...last].reverse().map(([key, value]) => `${JSON.stringify(key)} :\n${value}`);
      return `{ ${parts.join(" ,")} }`;
    };
    fc.assert(
      fc.property(jsonNode, (node) => {
        expect(canonicalText(rewritten(node))).toBe(canonicalText(node.text));
        expect(canonicalText(canonicalText(node.text))).toBe(canonicalText(node.text));
      }),
      { numRuns: 500 },
    );
  });
});

describe("a hostile number", () => {
  it.each([
    ["zeros inside", `1${"0".repeat(1_000_000)}1`],
    ["zeros behind", `1${"0".repeat(1_000_000)}`],
    ["a long fraction", `0.${"0".repeat(1_000_000)}1`],
    ["a long exponent", `1e${"9".repeat(1_000_000)}`],
  ])("with %s costs linear time", (_, text) => {
    expect(cpuTime(() => canonicalText(text))).toBeLessThan(200);
  });
});
