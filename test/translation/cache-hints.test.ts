import { expect, test } from "vitest";
import { liftResult } from "../../src/translation/lift.js";

const lifted = (method: string, result = "{}"): Record<string, unknown> =>
  JSON.parse(liftResult(method, result, { serverInfo: undefined }));

test.each([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
])("%s gains ttlMs 0 and cacheScope private on every page", (method) => {
  expect(lifted(method, '{"nextCursor":"p2"}')).toMatchObject({
    ttlMs: 0,
    cacheScope: "private",
    nextCursor: "p2",
  });
});

test("a legacy server's own hints are not believed", () => {
  expect(lifted("tools/list", '{"tools":[],"cacheScope":"public","ttlMs":9999}')).toMatchObject({
    ttlMs: 0,
    cacheScope: "private",
  });
});

test.each(["tools/call", "prompts/get", "completion/complete"])("%s carries no hints", (method) => {
  expect(lifted(method)).not.toHaveProperty("ttlMs");
  expect(lifted(method)).not.toHaveProperty("cacheScope");
});
