import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  memberAt,
  memberOf,
  parseObject,
  type RawObject,
  readObject,
} from "../../src/jsonrpc/raw-object.js";
import { jsonObjectNode, memberKey } from "../support/arbitraries.js";

const membersOf = (object: RawObject | undefined) =>
  object?.members.map(({ key, keyStart, start, end }) => ({
    key,
    prefix: object.text.slice(keyStart, start),
    value: object.text.slice(start, end),
  }));

describe("an object read as spans", () => {
  it("has each member with its characters, in order, duplicates included", () => {
    fc.assert(
      fc.property(jsonObjectNode, ({ text, members }) => {
        const expected = members?.map(({ key, prefix, value }) => ({
          key,
          prefix,
          value: value.text,
        }));
        expect(membersOf(parseObject(text))).toEqual(expected);
        expect(membersOf(readObject(text))).toEqual(expected);
        expect(membersOf(readObject(` \n${text}\t`))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("is undefined for other values", () => {
    for (const text of ["[1]", '"{}"', "1", "null", " true "]) {
      expect(parseObject(text)).toBeUndefined();
      expect(readObject(text)).toBeUndefined();
    }
    expect(readObject(undefined)).toBeUndefined();
  });

  it("that breaks off raises an error and does not hang", () => {
    const text = '{"a":{"b":"c\\"","d":[1]}}';
    for (let length = 1; length < text.length; length++) {
      expect(() => readObject(text.slice(0, length))).toThrow("unexpected end of text");
    }
  });
});

describe("a member", () => {
  it("is the last of duplicates, as for JSON.parse", () => {
    const text = '{"a":1,"b":2,"a":{"a":3}}';
    expect(memberOf(parseObject(text), "a")).toBe('{"a":3}');
    expect(memberAt(text, "a")).toBe('{"a":3}');
    expect(memberAt(text, "a", "a")).toBe("3");
  });

  it("keeps its characters", () => {
    const text = '{"n": 1.10 ,"big":9007199254740993,"s":"\\ud83d\\u0000\u2028","o":{ "x" : [ ] }}';
    expect(memberAt(text, "n")).toBe("1.10");
    expect(memberAt(text, "big")).toBe("9007199254740993");
    expect(memberAt(text, "s")).toBe('"\\ud83d\\u0000\u2028"');
    expect(memberAt(text, "o")).toBe('{ "x" : [ ] }');
  });

  it("is found by the name that its key stands for", () => {
    const text = '{"\\u0061":1,"b\\\\c":2,"d\\"":3,"\\u0000":4,"":5,"狐\u2028":6}';
    expect(memberAt(text, "a")).toBe("1");
    expect(memberAt(text, "b\\c")).toBe("2");
    expect(memberAt(text, 'd"')).toBe("3");
    expect(memberAt(text, "\0")).toBe("4");
    expect(memberAt(text, "")).toBe("5");
    expect(memberAt(text, "狐\u2028")).toBe("6");
    expect(memberAt(text, "\\u0061")).toBeUndefined();
    expect(memberAt(text, "b\\\\c")).toBeUndefined();
    expect(memberAt('{"\\n":1}', "\\n")).toBeUndefined();
    expect(memberAt(text, "toString")).toBeUndefined();
  });

  it("is absent where the path leads through nothing or through another value", () => {
    expect(memberAt('{"a":[{"b":1}]}', "a", "b")).toBeUndefined();
    expect(memberAt('{"a":"{}"}', "a", "b")).toBeUndefined();
    expect(memberAt('{"a":1}', "b", "c")).toBeUndefined();
    expect(memberAt(undefined, "a")).toBeUndefined();
    expect(memberAt('{"a":1}')).toBe('{"a":1}');
  });

  it("by path is the same as member by member", () => {
    fc.assert(
      fc.property(jsonObjectNode, memberKey, memberKey, ({ text }, outer, inner) => {
        const expected = memberOf(readObject(text), outer);
        expect(memberAt(text, outer)).toBe(expected);
        expect(memberAt(text, outer, inner)).toBe(memberOf(readObject(expected), inner));
      }),
      { numRuns: 500 },
    );
  });
});
