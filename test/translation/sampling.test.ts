import { expect, test } from "vitest";
import { lowerInputResponse } from "../../src/translation/lower.js";

const answer = (content: string): string => `{"role":"assistant","model":"m","content":${content}}`;
const text = (value: string): string => `{"type":"text","text":"${value}"}`;

test("a server of 2025-11-25 takes a list of blocks as it is", () => {
  expect(lowerInputResponse("sampling/createMessage", answer(`[${text("a")}]`), "2025-11-25")).toBe(
    answer(`[${text("a")}]`),
  );
});

test("an older server gets the only block by itself", () => {
  expect(lowerInputResponse("sampling/createMessage", answer(`[${text("a")}]`), "2025-06-18")).toBe(
    answer(text("a")),
  );
});

test("an older server gets text blocks joined", () => {
  const lowered = lowerInputResponse(
    "sampling/createMessage",
    answer(`[${text("a")},${text("b")}]`),
    "2024-11-05",
  );
  expect(JSON.parse(lowered ?? "").content).toEqual({ type: "text", text: "a\nb" });
});

test("blocks that cannot be one are not expressible", () => {
  const image = '{"type":"image","data":"","mimeType":"image/png"}';
  expect(
    lowerInputResponse("sampling/createMessage", answer(`[${text("a")},${image}]`), "2025-06-18"),
  ).toBeUndefined();
});
