import { expect, test } from "vitest";
import { liftResult } from "../../src/translation/lift.js";

test("notices are appended to those of a bridge further on", () => {
  const lifted = liftResult(
    "tools/call",
    '{"content":[],"_meta":{"io.erabridge/notices":[{"code":"session-reset","message":"a"}]}}',
    { serverInfo: undefined, notices: [{ code: "attribution-uncertain", message: "b" }] },
  );
  expect(JSON.parse(lifted)._meta["io.erabridge/notices"]).toEqual([
    { code: "session-reset", message: "a" },
    { code: "attribution-uncertain", message: "b" },
  ]);
});

test("without notices the member is absent", () => {
  expect(liftResult("tools/call", '{"content":[]}', { serverInfo: undefined, notices: [] })).toBe(
    '{"content":[],"resultType":"complete"}',
  );
});
