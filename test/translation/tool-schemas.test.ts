import { expect, test } from "vitest";
import { liftResult } from "../../src/translation/lift.js";

const lift = (method: string, result: string): string =>
  liftResult(method, result, { serverInfo: undefined });

test("execution is taken out of a tool, everything else stays to the character", () => {
  const kept =
    '"name":"a","inputSchema":{"type":"object","$schema":"x","n":1.0},"icons":[],"zzz":1e3';
  expect(
    lift("tools/list", `{"tools":[{${kept},"execution":{"taskSupport":"optional"}},{"name":"b"}]}`),
  ).toBe(
    `{"tools":[{${kept}},{"name":"b"}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`,
  );
});

test("schemas of any shape pass untouched", () => {
  const tools =
    '[{"name":"a"},{"name":"b","inputSchema":null},{"name":"c","inputSchema":{"$ref":"https://x.invalid/s"}},7]';
  expect(lift("tools/list", `{"tools":${tools}}`)).toContain(`"tools":${tools}`);
});

test("a valid header annotation stays, an invalid one is taken out", () => {
  const valid =
    '{"name":"a","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}}';
  expect(lift("tools/list", `{"tools":[${valid}]}`)).toContain(valid);
  expect(
    lift(
      "tools/list",
      '{"tools":[{"name":"a","inputSchema":{"properties":{"r":{"type":"number","x-mcp-header":"R"}}}}]}',
    ),
  ).toContain('{"name":"a","inputSchema":{"properties":{"r":{"type":"number"}}}}');
});

test("a tool result without content gains an empty one", () => {
  expect(lift("tools/call", '{"structuredContent":{"a":1.0}}')).toBe(
    '{"structuredContent":{"a":1.0},"content":[],"resultType":"complete"}',
  );
});
