import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "../../../src/wire/modern/header-value.js";

test.each([
  ["us-west1", "us-west1"],
  ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ["", "=?base64??="],
  ["tab\tx", "tab\tx"],
  ["\ttab", "=?base64?CXRhYg==?="],
  ["=?base64?open", "=?base64?open"],
  ["=?BASE64?dGVzdA==?=", "=?BASE64?dGVzdA==?="],
  ["café", "=?base64?Y2Fmw6k=?="],
  ["a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?="],
  ["\uFEFFbom", "=?base64?77u/Ym9t?="],
])("%j is sent as %j and read back", (text, header) => {
  expect(encodeHeaderValue(text)).toBe(header);
  expect(decodeHeaderValue(header)).toBe(text);
});

test("white space around a value is not part of it", () => {
  expect(decodeHeaderValue(" \t x y\t ")).toBe("x y");
  expect(decodeHeaderValue("  =?base64?eA==?= ")).toBe("x");
});

test.each([
  ["a digit too few", "=?base64?SGVsbG8?="],
  ["no padding", "=?base64?eA?="],
  ["padding inside", "=?base64?eA==eA==?="],
  ["too much padding", "=?base64?eA===?="],
  ["bits left over", "=?base64?eB==?="],
  ["a foreign digit", "=?base64?eA_-?="],
  ["a space", "=?base64?eA ==?="],
  ["bytes that are no UTF-8", "=?base64?/w==?="],
  ["an encoded surrogate", "=?base64?7aCA?="],
  ["raw characters beyond ASCII", "caf\u00e9"],
  ["a control character", "a\u0001b"],
  ["a line break", "a\r\nb"],
])("a value with %s is illegal", (_name, header) => {
  expect(decodeHeaderValue(header)).toBeUndefined();
});

test("marks that share a character, or are spelled otherwise, mark nothing", () => {
  expect(decodeHeaderValue("=?base64?=")).toBe("=?base64?=");
  expect(decodeHeaderValue("=?Base64?eA==?=")).toBe("=?Base64?eA==?=");
});

test("every text survives the way through a header, and no header can be broken out of", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const header = encodeHeaderValue(text);
      expect(header).toMatch(/^[\t\x20-\x7e]+$/);
      expect(decodeHeaderValue(header)).toBe(text);
    }),
  );
});
