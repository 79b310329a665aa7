import { expect, test } from "vitest";
import { liftResult } from "../../src/translation/lift.js";
import { SESSION_RESET } from "../../src/translation/sessions.js";

test("the first result after a lost session says so", () => {
  const lifted = liftResult("tools/call", '{"content":[]}', {
    serverInfo: undefined,
    notices: [SESSION_RESET],
  });
  expect(JSON.parse(lifted)._meta["io.erabridge/notices"]).toEqual([
    { code: "session-reset", message: expect.stringContaining("session") },
  ]);
});
