import { describe, expect, test } from "vitest";
import {
  liftClientCapabilities,
  liftInputResponse,
  liftRequest,
} from "../../src/translation/lift-request.js";

const DECLARED =
  '{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"tasks":{"list":{}},"experimental":{"a":1.0},"x":{}}';

describe("what a client declared in initialize becomes what it declares on each request", () => {
  test.each([
    [
      "2025-11-25",
      '{"roots":{},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"experimental":{"a":1.0},"x":{}}',
    ],
    [
      "2025-06-18",
      '{"roots":{},"sampling":{},"elicitation":{"form":{}},"experimental":{"a":1.0},"x":{}}',
    ],
    ["2025-03-26", '{"roots":{},"sampling":{},"experimental":{"a":1.0},"x":{}}'],
    ["2024-11-05", '{"roots":{},"sampling":{},"experimental":{"a":1.0},"x":{}}'],
  ] as const)("at %s", (revision, expected) => {
    expect(liftClientCapabilities(DECLARED, revision)).toBe(expected);
  });

  test("an empty elicitation capability stays the form mode it means", () => {
    expect(liftClientCapabilities('{"elicitation":{}}', "2025-11-25")).toBe('{"elicitation":{}}');
    expect(liftClientCapabilities('{"elicitation":{}}', "2025-06-18")).toBe(
      '{"elicitation":{"form":{}}}',
    );
  });

  test("extensions pass, but those that hold between neighbours do not", () => {
    const ui = '"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}';
    expect(
      liftClientCapabilities(
        `{"extensions":{${ui},"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/oauth-client-credentials":{}}}`,
        "2025-11-25",
      ),
    ).toBe(`{"extensions":{${ui}}}`);
  });
});

describe("a legacy request's params", () => {
  test("keep their characters", () => {
    const params =
      '{"name":"t","arguments":{"id":9007199254740993,"f":1.0,"s":"\\ud83d"},"_meta":{"traceparent":"00-1"}}';
    expect(liftRequest("tools/call", params)).toBe(params);
  });

  test("lose what asks for a task and what could pass for the answers of a round", () => {
    expect(
      liftRequest(
        "tools/call",
        '{"name":"t","task":{"ttl":1},"requestState":"s","inputResponses":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}',
      ),
    ).toBe('{"name":"t"}');
  });

  test("keep such members on methods to which they mean nothing", () => {
    expect(liftRequest("acme/run", '{"task":1,"requestState":"s"}')).toBe(
      '{"task":1,"requestState":"s"}',
    );
  });

  test("are an object even when the client left them out", () => {
    expect(liftRequest("tools/list", undefined)).toBe("{}");
  });
});

test("an answer goes back bare", () => {
  expect(liftInputResponse('{"action":"accept","content":{"n":1.0},"_meta":{"a":1}}')).toBe(
    '{"action":"accept","content":{"n":1.0}}',
  );
});
