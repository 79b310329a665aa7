import { expect, test } from "vitest";
import { lowerRequest } from "../../src/translation/lower.js";

const ENVELOPE =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug"';

test("the envelope is taken out and nothing else changes by a character", () => {
  const params = `{"name":"t" , "arguments":{"id":1915883588174806058,"x":1.0,"x":-0},"zzz":1e400,"_meta":{${ENVELOPE},"com.acme/x":"\\ud83d","traceparent":"00-a"}}`;
  expect(lowerRequest("tools/call", params, undefined)).toBe(
    '{"name":"t" , "arguments":{"id":1915883588174806058,"x":1.0,"x":-0},"zzz":1e400,"_meta":{"com.acme/x":"\\ud83d","traceparent":"00-a"}}',
  );
});

test("a _meta that held only the envelope goes with it", () => {
  expect(lowerRequest("tools/list", `{"cursor":"","_meta":{${ENVELOPE}}}`, undefined)).toBe(
    '{"cursor":""}',
  );
});

test("an empty _meta of the client's own stays", () => {
  expect(lowerRequest("tools/list", '{"_meta":{}}', undefined)).toBe('{"_meta":{}}');
});

test("legacy task vocabulary does not turn a modern call into a task", () => {
  expect(lowerRequest("tools/call", '{"name":"t","task":{"ttl":1}}', undefined)).toBe(
    '{"name":"t"}',
  );
});

test("the affinity hint is the bridge's alone", () => {
  expect(
    lowerRequest(
      "tools/call",
      '{"name":"t","_meta":{"io.erabridge/session":"a","b":1}}',
      undefined,
    ),
  ).toBe('{"name":"t","_meta":{"b":1}}');
});
