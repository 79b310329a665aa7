import { expect, test } from "vitest";
import { lowerError } from "../../src/translation/lower-error.js";

test.each([
  [-32602, '{"code":-32602,"message":"m","data":{"uri":"file:///a"}}'],
  [-32601, '{"code":-32601,"message":"m"}'],
  [-32002, '{"code":-32002,"message":"m"}'],
  [17, '{"code":17,"message":"m","data":1.0}'],
])("%s passes as it is", (code, text) => {
  expect(lowerError({ code, text })).toEqual({ code, text });
});

test("a missing capability keeps code and data and is said in words", () => {
  const text =
    '{"code":-32021,"message":"MissingRequiredClientCapability","data":{"requiredCapabilities":{"elicitation":{"url":{}},"sampling":{}}}}';
  expect(lowerError({ code: -32021, text })).toEqual({
    code: -32021,
    text: '{"code":-32021,"message":"This request needs elicitation (url) and sampling, which your client did not declare","data":{"requiredCapabilities":{"elicitation":{"url":{}},"sampling":{}}}}',
  });
});

test.each([-32020, -32022])("%s, which is between bridge and server, becomes internal", (code) => {
  expect(lowerError({ code, text: `{"code":${code},"message":"m","data":[1]}` })).toEqual({
    code: -32603,
    text: `{"code":-32603,"message":"m","data":{"originalData":[1],"originalCode":${code}}}`,
  });
});
