import { describe, expect, test } from "vitest";
import {
  parameterHeadersOf,
  withoutParameterHeaders,
} from "../../src/translation/parameter-headers.js";

const schema = (properties: unknown): string => JSON.stringify({ type: "object", properties });

test("annotations on primitive properties are found with their path", () => {
  expect(
    parameterHeadersOf(
      schema({
        region: { type: "string", "x-mcp-header": "Region" },
        deep: {
          type: "object",
          properties: { level: { type: "integer", "x-mcp-header": "Level" } },
        },
        plain: { type: "string" },
      }),
    ),
  ).toEqual({
    valid: true,
    headers: [
      { path: ["region"], name: "Region", type: "string" },
      { path: ["deep", "level"], name: "Level", type: "integer" },
    ],
  });
});

test("a schema without annotations declares nothing", () => {
  expect(parameterHeadersOf(schema({ a: { type: "number" } }))).toEqual({
    valid: true,
    headers: [],
  });
  expect(parameterHeadersOf(undefined)).toEqual({ valid: true, headers: [] });
});

test("a property that is called x-mcp-header is no annotation", () => {
  expect(parameterHeadersOf(schema({ "x-mcp-header": { type: "string" } }))).toEqual({
    valid: true,
    headers: [],
  });
});

describe("an annotation is invalid", () => {
  test.each([
    ["when empty", { a: { type: "string", "x-mcp-header": "" } }],
    ["with a space", { a: { type: "string", "x-mcp-header": "My Region" } }],
    ["with a line break", { a: { type: "string", "x-mcp-header": "A\r\nB" } }],
    ["when no string", { a: { type: "string", "x-mcp-header": 1 } }],
    ["on a number", { a: { type: "number", "x-mcp-header": "A" } }],
    ["on an object", { a: { type: "object", "x-mcp-header": "A" } }],
    ["without a type", { a: { "x-mcp-header": "A" } }],
    [
      "twice but for case",
      { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } },
    ],
    ["below items", { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }],
    ["below anyOf", { a: { anyOf: [{ type: "string", "x-mcp-header": "A" }] } }],
    [
      "below properties of an items schema",
      { a: { items: { properties: { b: { type: "string", "x-mcp-header": "A" } } } } },
    ],
  ])("%s", (_case, properties) => {
    expect(parameterHeadersOf(schema(properties))).toMatchObject({ valid: false });
  });

  test("at the root, or below $defs", () => {
    expect(parameterHeadersOf('{"type":"string","x-mcp-header":"A"}')).toMatchObject({
      valid: false,
    });
    expect(
      parameterHeadersOf('{"$defs":{"x":{"type":"string","x-mcp-header":"A"}},"type":"object"}'),
    ).toMatchObject({ valid: false });
  });
});

test("invalid annotations can be taken out, the rest of the schema stays", () => {
  expect(
    JSON.parse(
      withoutParameterHeaders(schema({ a: { type: "number", "x-mcp-header": "A", minimum: 1 } })),
    ),
  ).toEqual({ type: "object", properties: { a: { type: "number", minimum: 1 } } });
});
