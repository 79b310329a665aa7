import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseObject } from "../../src/jsonrpc/raw-object.js";
import { assertJson, JsonSyntaxError } from "../../src/jsonrpc/scan.js";
import { jsonText, mutatedJsonText } from "../support/arbitraries.js";
import { cpuTime } from "../support/cpu-time.js";

function accepts(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonSyntaxError) return false;
    throw error;
  }
}

function faultOf(text: string): JsonSyntaxError {
  try {
    parseObject(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
  }
  throw new Error("the text was accepted");
}

describe("what is JSON", () => {
  it("is what JSON.parse accepts", () => {
    const same = (text: string): void => {
      expect(accepts(parseObject, text)).toBe(accepts(JSON.parse, text));
      expect(accepts(assertJson, text)).toBe(accepts(JSON.parse, text));
    };
    fc.assert(fc.property(jsonText, same), { numRuns: 500 });
    fc.assert(fc.property(mutatedJsonText, same), { numRuns: 5_000 });
  });

  it.each([
    '{"a":"\u2028\u2029\u007f"}',
    '{"a":"\\ud83d"}',
    '{"a":"\\u0000"}',
    '{"a":1e400,"b":-0,"c":1.10,"d":9007199254740993}',
    '\t\r\n {"a" :\n1} ',
    '{"":{"":[[],{}]}}',
    "123",
    '"x"',
  ])("holds for %j", (text) => {
    expect(accepts(parseObject, text)).toBe(true);
  });

  it.each([
    "",
    " ",
    "{",
    '{"a":1,}',
    '{"a":1}}',
    '{"a":1}{}',
    "{a:1}",
    "{'a':1}",
    '{"a":01}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":+1}',
    '{"a":-}',
    '{"a":1e}',
    '{"a":NaN}',
    '{"a":undefined}',
    '{"a":truex}',
    '{"a":"\n"}',
    '{"a":"\\x41"}',
    '{"a":"\\u12G4"}',
    '{"a":"\\u123',
    '{"a":"\\',
    "[1,]",
    "[,1]",
    '{"a":1}\u00a0',
    '\ufeff{"a":1}',
    '{"a":1}//',
  ])("does not hold for %j", (text) => {
    expect(accepts(parseObject, text)).toBe(false);
  });

  it("counts also far inside a long string", () => {
    for (const length of [40, 47, 48, 49, 50, 100, 5_000]) {
      const run = "x".repeat(length);
      expect(accepts(parseObject, `{"a":"${run}"}`)).toBe(true);
      expect(accepts(parseObject, `{"a":"${run}\\n${run}\\"${run}"}`)).toBe(true);
      expect(accepts(parseObject, `{"a":"${run}\n"}`)).toBe(false);
      expect(accepts(parseObject, `{"a":"${run}\u001f${run}"}`)).toBe(false);
      expect(accepts(parseObject, `{"a":"${run}狐\\q"}`)).toBe(false);
      expect(accepts(parseObject, `{"a":"${run}`)).toBe(false);
    }
  });
});

describe("a fault", () => {
  it.each([
    ['{"a":1,}', 7, "expected a member name"],
    ['{"a" 1}', 5, "expected :"],
    ['{"a":1 "b":2}', 7, "expected , or }"],
    ['{"a":[1 2]}', 8, "expected , or ]"],
    ['{"a":1} x', 8, "text after the value"],
    ['{"a":', 5, "unexpected end of text"],
    ['{"a":"bc', 5, "unterminated string"],
    ['{"a":"b\tc"}', 7, "raw control character in a string"],
    ['{"a":"b\\qc"}', 7, "bad escape"],
    ['{"a":"b\\u00zz"}', 7, "bad unicode escape"],
    ['{"a":-x}', 5, "bad number"],
    ['{"a":tru}', 5, "unexpected word"],
    ['{"a":?}', 5, "unexpected character"],
  ])("of %s is told at character %i", (text, at, reason) => {
    const fault = faultOf(text);
    expect(fault.at).toBe(at);
    expect(fault.message).toBe(`${reason} at character ${at}`);
  });
});

describe("bounds", () => {
  const nested = (depth: number, inner: string): string =>
    `${'{"a":['.repeat(depth / 2)}${inner}${"]}".repeat(depth / 2)}`;

  it("let 256 containers stand in each other, with something in the last", () => {
    expect(accepts(parseObject, nested(256, "1"))).toBe(true);
    expect(accepts(assertJson, `[${nested(254, '"x",null')}]`)).toBe(true);
  });

  it("refuse the 257th", () => {
    expect(faultOf(nested(256, "[]")).message).toMatch(/^nesting deeper than 256 /);
    expect(faultOf(`[${nested(256, "")}]`).message).toMatch(/^nesting deeper than 256 /);
  });

  it("refuse a bomb of brackets without using up the stack", () => {
    expect(faultOf("[".repeat(5_000_000)).message).toMatch(/^nesting deeper than 256 /);
  });

  it("let an object have a million members and refuse one more, wherever it stands", () => {
    const members = Array.from({ length: 1_000_000 }, () => '"":0').join(",");
    expect(accepts(parseObject, `{${members}}`)).toBe(true);
    expect(faultOf(`{${members},"a":0}`).message).toMatch(/^more than 1000000 members /);
    expect(faultOf(`{"x":[{${members},"a":0}]}`).message).toMatch(/^more than 1000000 members /);
  });
});

describe("a string of 10 MB", () => {
  const elapsed = (read: (text: string) => unknown, text: string): number => {
    return Math.min(...[1, 2, 3].map(() => cpuTime(() => read(text))));
  };

  it.each([
    ["base64", "QUJD".repeat(2_500_000)],
    ["two-byte characters", "狐 ".repeat(5_000_000)],
  ])("of %s is read about as fast as JSON.parse reads it", (_, content) => {
    const text = `{"jsonrpc":"2.0","id":1,"result":{"data":"${content}"}}`;
    parseObject(text.slice(0, 1_000_000).concat('"}}'));
    const ours = elapsed(parseObject, text);
    expect(ours).toBeLessThan(100);
    expect(ours).toBeLessThan(3 * elapsed(JSON.parse, text) + 10);
  });
});
