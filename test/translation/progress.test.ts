import { expect, test } from "vitest";
import { lowerRequest } from "../../src/translation/lower.js";
import { withoutToken } from "../../src/translation/progress.js";

test("a client's token is replaced by this hop's, in its place", () => {
  expect(lowerRequest("tools/call", '{"_meta":{"progressToken":"abc","x":1},"name":"t"}', 7)).toBe(
    '{"_meta":{"progressToken":7,"x":1},"name":"t"}',
  );
});

test("a token is added where the client sent none", () => {
  expect(lowerRequest("tools/call", '{"name":"t"}', 7)).toBe(
    '{"name":"t","_meta":{"progressToken":7}}',
  );
});

test("without a token for this hop the client's own does not leak", () => {
  expect(lowerRequest("tools/call", '{"name":"t","_meta":{"progressToken":1}}', undefined)).toBe(
    '{"name":"t"}',
  );
});

test("progress travels the middle without a token and otherwise as it came", () => {
  expect(withoutToken('{"progressToken":7,"progress":0.50,"total":1e2,"message":"x"}')).toBe(
    '{"progress":0.50,"total":1e2,"message":"x"}',
  );
});
