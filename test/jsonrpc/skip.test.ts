import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf } from "../../src/jsonrpc/skip.js";
import { jsonText } from "../support/arbitraries.js";

describe("the elements of an array", () => {
  it("are the texts of its values, without the space around them", () => {
    fc.assert(
      fc.property(fc.array(jsonText, { maxLength: 5 }), (texts) => {
        const trimmed = texts.map((text) => text.replace(/^[ \n\r\t]+|[ \n\r\t]+$/g, ""));
        expect(elementsOf(`[${texts.join(",")}]`)).toEqual(trimmed);
        expect(elementsOf(` [ ${texts.join(" , ")} ] `)).toEqual(trimmed);
      }),
    );
  });

  it("can be limited in number", () => {
    expect(elementsOf("[1,[2,3],4]", 2)).toEqual(["1", "[2,3]"]);
    expect(elementsOf("[1,[2,3],4]", 3)).toEqual(["1", "[2,3]", "4"]);
  });

  it("are none when the value is no array", () => {
    for (const text of ['{"a":[1]}', '"[1]"', "1", "null"]) expect(elementsOf(text)).toEqual([]);
  });

  it("that break off raise an error and do not hang", () => {
    const text = '[1,{"a":"]"},[2]]';
    for (let length = 1; length < text.length; length++) {
      expect(() => elementsOf(text.slice(0, length))).toThrow("unexpected end of text");
    }
  });
});
