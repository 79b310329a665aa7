import { describe, expect, test } from "vitest";
import type { LegacyRevision } from "../../src/model/era.js";
import { lowerBlock } from "../../src/translation/content-blocks.js";
import { lowerResult } from "../../src/translation/lower-result.js";

const AUDIO = '{"type":"audio","data":"AAAA","mimeType":"audio/wav"}';
const LINK =
  '{"type":"resource_link","uri":"file:///a","name":"a","description":"the file","annotations":{"priority":1.0}}';

test.each([
  ["2025-06-18", LINK, LINK],
  [
    "2025-03-26",
    LINK,
    '{"type":"text","text":"[a](file:///a) – the file","annotations":{"priority":1.0}}',
  ],
  ["2025-03-26", AUDIO, AUDIO],
  ["2024-11-05", AUDIO, '{"type":"text","text":"[audio, audio/wav, 3 bytes]"}'],
  ["2024-11-05", '{"type":"image","data":""}', '{"type":"image","data":""}'],
  ["2024-11-05", '{"type":"constructor"}', '{"type":"constructor"}'],
  ["2024-11-05", "7", "7"],
] as const)("a client of %s reads %s as %s", (revision, block, expected) => {
  expect(lowerBlock(block, revision)).toBe(expected);
});

describe("a result with a block the client does not know", () => {
  const lower = (method: string, result: string, revision: LegacyRevision): unknown =>
    JSON.parse(lowerResult(method, result, { revision, wraps: false }));
  const notices = {
    _meta: {
      "io.erabridge/notices": [
        {
          code: "content-replaced",
          message: "a content block that this revision does not know was replaced by a text",
        },
      ],
    },
  };

  test("has it replaced in a tool's content", () => {
    expect(
      lower("tools/call", `{"content":[{"type":"text","text":"x"},${LINK}]}`, "2024-11-05"),
    ).toEqual({
      content: [
        { type: "text", text: "x" },
        { type: "text", text: "[a](file:///a) – the file", annotations: { priority: 1 } },
      ],
      ...notices,
    });
  });

  test("has it replaced in a prompt's messages", () => {
    expect(
      lower("prompts/get", `{"messages":[{"role":"user","content":${AUDIO}}]}`, "2024-11-05"),
    ).toEqual({
      messages: [{ role: "user", content: { type: "text", text: "[audio, audio/wav, 3 bytes]" } }],
      ...notices,
    });
  });
});
