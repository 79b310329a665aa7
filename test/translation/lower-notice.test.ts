import { expect, test } from "vitest";
import { lowerNotice } from "../../src/translation/lower-notice.js";

test("a subscription id is taken off, other members stay", () => {
  expect(lowerNotice('{"uri":"x://a","_meta":{"io.modelcontextprotocol/subscriptionId":3}}')).toBe(
    '{"uri":"x://a"}',
  );
  expect(
    lowerNotice('{"_meta":{"a":1.0,"io.modelcontextprotocol/subscriptionId":"3"},"z":1e2}'),
  ).toBe('{"_meta":{"a":1.0},"z":1e2}');
});

test.each([undefined, "{}", '{ "level":"info","data":{"a":1.0}}'])("%s stays", (params) => {
  expect(lowerNotice(params)).toBe(params);
});
