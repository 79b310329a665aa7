import { expect, test } from "vitest";
import { liftResult } from "../../src/translation/lift.js";

const SERVER = '{"name":"acme","version":"1.0","extra":1.0}';

test("every result carries the upstream's own identity, as it was written", () => {
  expect(liftResult("tools/call", '{"content":[]}', { serverInfo: SERVER })).toBe(
    `{"content":[],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":${SERVER}}}`,
  );
});

test("an identity the server wrote itself wins, and other _meta entries stay", () => {
  const result =
    '{"content":[],"_meta":{"com.acme/x":1.0,"io.modelcontextprotocol/serverInfo":{"name":"self","version":"2"}}}';
  expect(liftResult("tools/call", result, { serverInfo: SERVER })).toBe(
    '{"content":[],"_meta":{"com.acme/x":1.0,"io.modelcontextprotocol/serverInfo":{"name":"self","version":"2"}},"resultType":"complete"}',
  );
});
