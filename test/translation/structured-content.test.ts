import { describe, expect, test } from "vitest";
import { lowerResult } from "../../src/translation/lower-result.js";

const lower = (
  result: string,
  wraps = false,
  revision: "2025-11-25" | "2025-03-26" = "2025-11-25",
) => lowerResult("tools/call", result, { revision, wraps });

describe("structured content for a client that knows it", () => {
  test("stays as it is when it is an object", () => {
    const result = '{"content":[],"structuredContent":{"n":9007199254740993}}';
    expect(lower(result)).toBe(result);
  });

  test("is wrapped because its tool was advertised so, whatever the value", () => {
    expect(
      lower('{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}', true),
    ).toBe('{"content":[{"type":"text","text":"x"}],"structuredContent":{"result":{"a":1}}}');
  });

  test("is wrapped when it is no object, with a text of it and a notice", () => {
    expect(lower('{"content":[],"structuredContent":[1.0,2]}')).toBe(
      '{"content":[{"type":"text","text":"[1.0,2]"}],"structuredContent":{"result":[1.0,2]},' +
        '"_meta":{"io.erabridge/notices":[{"code":"structured-content-wrapped","message":"structured content that is no object stands in the member `result`"}]}}',
    );
  });
});

describe("structured content for a client before 2025-06-18", () => {
  test("becomes a text where there is none", () => {
    expect(lower('{"content":[],"structuredContent":{"a":1.0}}', false, "2025-03-26")).toBe(
      '{"content":[{"type":"text","text":"{\\"a\\":1.0}"}]}',
    );
  });

  test("goes where a text says it already", () => {
    expect(
      lower(
        '{"content":[{"type":"text","text":"one"}],"structuredContent":{"a":1}}',
        true,
        "2025-03-26",
      ),
    ).toBe('{"content":[{"type":"text","text":"one"}]}');
  });
});
