import { expect, test } from "vitest";
import { liftResult } from "../../src/translation/lift.js";

test.each([
  ["tools/list", '{"tools":[]}'],
  ["tools/call", '{"content":[],"isError":true}'],
  ["prompts/get", '{"messages":[]}'],
  ["completion/complete", '{"completion":{"values":[]}}'],
  ["acme/unknown", "{}"],
])("a legacy result of %s gains resultType complete", (method, result) => {
  const lifted = JSON.parse(liftResult(method, result, { serverInfo: undefined }));
  expect(lifted.resultType).toBe("complete");
});

test("a legacy member of that name is overwritten, duplicates included", () => {
  const lifted = liftResult("tools/call", '{"resultType":"x","content":[],"resultType":"task"}', {
    serverInfo: undefined,
  });
  expect(lifted).toBe('{"content":[],"resultType":"complete"}');
});
