import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asNumber, asString, onOneLine, quote } from "../../src/jsonrpc/json-text.js";
import { jsonNumberText, jsonStringText, jsonText } from "../support/arbitraries.js";

describe("a text on one line", () => {
  it("has the same value and no line break", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(onOneLine(text)).not.toMatch(/[\r\n]/);
        expect(JSON.parse(onOneLine(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("is the same text when it was one line before, separators of Unicode included", () => {
    const text = '{"a":"\u2028\u2029\\n\\u0000\\ud83d","b":1.0}';
    expect(onOneLine(text)).toBe(text);
  });

  it("folds pretty-printed text", () => {
    expect(onOneLine('{\r\n  "a": [\n    1.0\n  ]\r}')).toBe('{   "a": [     1.0   ] }');
  });
});

describe("the plain value of a text", () => {
  it("of a string is what JSON.parse makes of it", () => {
    fc.assert(
      fc.property(jsonStringText, (text) => {
        expect(asString(text)).toBe(JSON.parse(text));
      }),
    );
  });

  it("of a number is what JSON.parse makes of it", () => {
    fc.assert(
      fc.property(jsonNumberText, (text) => {
        expect(asNumber(text)).toBe(JSON.parse(text));
      }),
    );
  });

  it("is undefined for other kinds", () => {
    for (const text of [undefined, "null", "true", "[1]", '{"a":1}']) {
      expect(asString(text)).toBeUndefined();
      expect(asNumber(text)).toBeUndefined();
    }
    expect(asString("1")).toBeUndefined();
    expect(asNumber('"1"')).toBeUndefined();
  });

  it("of a quoted string is the string", () => {
    for (const text of ["", '"\\', "\0\u2028\ud83d", "狐 🦊"])
      expect(asString(quote(text))).toBe(text);
  });
});
