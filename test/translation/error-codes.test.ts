import { expect, test } from "vitest";
import { liftError } from "../../src/translation/error-codes.js";

const error = (code: number, rest = ""): { code: number; text: string } => ({
  code,
  text: `{"code":${code},"message":"m"${rest}}`,
});

test("a missing resource becomes -32602 with its uri, message and data kept", () => {
  expect(
    liftError("resources/read", error(-32002, ',"data":{"a":1.0}'), '{"uri":"x://a"}'),
  ).toEqual({
    code: -32602,
    text: '{"code":-32602,"message":"m","data":{"a":1.0,"uri":"x://a"}}',
  });
});

test("-32602 of resources/read gains the uri it is about", () => {
  expect(JSON.parse(liftError("resources/read", error(-32602), '{"uri":"x://a"}').text)).toEqual({
    code: -32602,
    message: "m",
    data: { uri: "x://a" },
  });
});

test.each([
  [-32002, "tools/call"],
  [-32042, "tools/list"],
  [-32020, "tools/call"],
  [-32021, "tools/call"],
  [-32022, "tools/call"],
  [-32050, "prompts/get"],
  [-32099, "tools/call"],
])(
  "code %i of a legacy server on %s is no modern code: -32603 with the original",
  (code, method) => {
    const lifted = liftError(method, error(code), "{}");
    expect(lifted.code).toBe(-32603);
    expect(JSON.parse(lifted.text)).toMatchObject({
      code: -32603,
      message: "m",
      data: { originalCode: code, originalMessage: "m" },
    });
  },
);

test("-32021 with the capabilities it asks for comes from a modern server behind a bridge and passes", () => {
  const data = ',"data":{"requiredCapabilities":{"sampling":{}}}';
  expect(liftError("tools/call", error(-32021, data), "{}")).toEqual(error(-32021, data));
});

test("data that is no object is kept beside the original code", () => {
  expect(JSON.parse(liftError("tools/call", error(-32050, ',"data":[1]'), "{}").text).data).toEqual(
    {
      originalData: [1],
      originalCode: -32050,
      originalMessage: "m",
    },
  );
});

test.each([-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32019, -1, 0, 42])(
  "code %i passes as it came",
  (code) => {
    const before = error(code, ',"data":1.0,"zzz":2');
    expect(liftError("tools/call", before, "{}")).toEqual(before);
  },
);

test("a missing capability that is told in full passes: a modern server stands behind the legacy one", () => {
  const missing = error(-32021, ',"data":{"requiredCapabilities":{"sampling":{}}}');
  expect(liftError("tools/call", missing, "{}")).toEqual(missing);
  const vague = error(-32021, ',"data":{"requiredCapabilities":["sampling"]}');
  expect(liftError("tools/call", vague, "{}").code).toBe(-32603);
});
