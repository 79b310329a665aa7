import { expect, test } from "vitest";
import { readMirroredTools } from "../../src/translation/mirrored-tools.js";

const GOOD =
  '{"name":"run","inputSchema":{"type":"object","properties":{"a":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}}}';
const BAD =
  '{"name":"bad","inputSchema":{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}}';

test("a page is the very text it was when nothing is wrong with it", () => {
  const page = `{ "tools":[${GOOD},{"name":"plain"}],"nextCursor":""}`;
  const read = readMirroredTools(page);
  expect(read.result).toBe(page);
  expect([...read.headers]).toEqual([
    ["run", [{ path: ["a", "region"], name: "Region", type: "string" }]],
    ["plain", []],
  ]);
});

test("a tool with an invalid annotation is left out and named, the others keep their characters", () => {
  const read = readMirroredTools(`{"tools":[${BAD},${GOOD}],"n":1.0}`);
  expect(read.result).toBe(`{"tools":[${GOOD}],"n":1.0}`);
  expect(read.rejected.map(({ tool }) => tool)).toEqual(["bad"]);
});

test.each(["{}", '{"tools":7}', '{"tools":[7,{"name":8}]}'])("%s passes", (page) => {
  expect(readMirroredTools(page)).toMatchObject({ result: page, rejected: [] });
});
