import { describe, expect, test } from "vitest";
import { hasObjectRoot, wrapOutputSchema } from "../../src/translation/output-schema.js";

test.each([
  ['{"type":"object"}', true],
  ['{"type":"array"}', false],
  ['{"anyOf":[{"type":"object"}]}', false],
  ['{"type":["object","null"]}', false],
  ["true", false],
])("%s has an object at its root: %s", (schema, is) => {
  expect(hasObjectRoot(schema)).toBe(is);
});

const inner = (schema: string): unknown => JSON.parse(wrapOutputSchema(schema)).properties.result;

describe("a wrapped schema", () => {
  test("requires the member result and keeps its dialect at the root", () => {
    expect(wrapOutputSchema('{"$schema":"x","type":"array"}')).toBe(
      '{"$schema":"x","type":"object","properties":{"result":{"$schema":"x","type":"array"}},"required":["result"]}',
    );
  });

  test("has its pointers moved, wherever schemas stand", () => {
    expect(
      inner(
        '{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"anyOf":[{"$ref":"#"},{"$dynamicRef":"#/$defs/b"}]},"b":true}}',
      ),
    ).toEqual({
      type: "array",
      items: { $ref: "#/properties/result/$defs/a" },
      $defs: {
        a: {
          anyOf: [{ $ref: "#/properties/result" }, { $dynamicRef: "#/properties/result/$defs/b" }],
        },
        b: true,
      },
    });
  });

  test("keeps anchors, foreign references, data and numbers", () => {
    const schema =
      '{"type":"array","items":{"$ref":"#name"},"not":{"$ref":"https://x.invalid/s#/a"},"const":{"$ref":"#"},"maximum":1.0}';
    expect(wrapOutputSchema(schema)).toContain(schema);
  });

  test("moves references below properties that are named like keywords", () => {
    expect(inner('{"anyOf":[{"properties":{"const":{"$ref":"#"},"$id":{"$ref":"#"}}}]}')).toEqual({
      anyOf: [
        {
          properties: {
            const: { $ref: "#/properties/result" },
            $id: { $ref: "#/properties/result" },
          },
        },
      ],
    });
  });

  test("leaves subschemas with a base of their own, but not those with an anchor in $id", () => {
    expect(
      inner('{"anyOf":[{"$id":"https://x.invalid/s","$ref":"#/a"},{"$id":"#here","$ref":"#/a"}]}'),
    ).toEqual({
      anyOf: [
        { $id: "https://x.invalid/s", $ref: "#/a" },
        { $id: "#here", $ref: "#/properties/result/a" },
      ],
    });
  });

  test("turns the recursion of 2019-09 into a reference, beside an own one into a conjunction", () => {
    const dialect = '"$schema":"https://json-schema.org/draft/2019-09/schema"';
    expect(inner(`{${dialect},"items":{"$recursiveRef":"#"}}`)).toMatchObject({
      items: { $ref: "#/properties/result" },
    });
    expect(
      inner(`{${dialect},"items":{"$recursiveRef":"#","$ref":"#/$defs/a","allOf":[true]}}`),
    ).toMatchObject({
      items: {
        $ref: "#/properties/result/$defs/a",
        allOf: [true, { $ref: "#/properties/result" }],
      },
    });
    expect(inner('{"items":{"$recursiveRef":"#"}}')).toEqual({ items: { $recursiveRef: "#" } });
  });
});
