import { expect, test } from "vitest";
import { cancelledParams } from "../../src/translation/cancellation.js";

test("a cancellation names the request by its id's own text", () => {
  expect(cancelledParams('"a\\u0041"', 'the "user" left')).toBe(
    '{"requestId":"a\\u0041","reason":"the \\"user\\" left"}',
  );
  expect(cancelledParams(1)).toBe('{"requestId":1}');
});
