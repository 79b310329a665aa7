import { describe, expect, test } from "vitest";
import { lowerResult, wrappedTools } from "../../src/translation/lower-result.js";

const plain = { revision: "2025-11-25", wraps: false } as const;

test("the marks of a modern result go, everything else stays to the character", () => {
  expect(
    lowerResult(
      "tools/list",
      '{"resultType":"complete","tools":[],"ttlMs":60000,"cacheScope":"private","nextCursor":"","zzz":1.0,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"com.acme/x":1e3}}',
      plain,
    ),
  ).toBe('{"tools":[],"nextCursor":"","zzz":1.0,"_meta":{"com.acme/x":1e3}}');
});

test("an empty result is exactly empty", () => {
  expect(
    lowerResult(
      "acme/run",
      '{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}}}',
      plain,
    ),
  ).toBe("{}");
});

test("members with the names of cache hints stay where they are none", () => {
  expect(lowerResult("tools/call", '{"content":[],"ttlMs":5}', plain)).toBe(
    '{"content":[],"ttlMs":5}',
  );
});

test("a result without marks is the very text the server sent", () => {
  const result = '{ "content" : [ ] , "isError":true}';
  expect(lowerResult("tools/call", result, plain)).toBe(result);
});

describe("tools", () => {
  const tools =
    '{"tools":[{"name":"o","outputSchema":{"type":"object"}},{"name":"a","outputSchema":{"type":"array"}},{"name":"n"}]}';

  test("are advertised with object schemas to clients that know schemas", () => {
    expect(lowerResult("tools/list", tools, plain)).toBe(
      '{"tools":[{"name":"o","outputSchema":{"type":"object"}},{"name":"a","outputSchema":{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]}},{"name":"n"}]}',
    );
  });

  test("are advertised without schemas to clients that do not", () => {
    expect(lowerResult("tools/list", tools, { revision: "2025-03-26", wraps: false })).toBe(
      '{"tools":[{"name":"o"},{"name":"a"},{"name":"n"}]}',
    );
  });

  test("are known by which of them are wrapped", () => {
    expect([...wrappedTools(tools)]).toEqual([
      ["o", false],
      ["a", true],
      ["n", false],
    ]);
  });
});
