import { expect, test } from "vitest";
import { allowsBatches, batchText, readBatch } from "../../../src/wire/legacy/batch.js";

test.each([
  ["2024-11-05", false],
  ["2025-03-26", true],
  ["2025-06-18", false],
  ["2025-11-25", false],
  [undefined, false],
] as const)("a session of %s takes arrays: %s", (revision, allowed) => {
  expect(allowsBatches(revision)).toBe(allowed);
});

test("the elements of a batch are read one by one, each with its own fault", () => {
  const read = readBatch([
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":"r-7","result":{}}',
    '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}',
    "[1]",
    "17",
  ]);
  expect(read.map((message) => message.type)).toEqual([
    "request",
    "notification",
    "response",
    "malformed",
    "malformed",
    "malformed",
  ]);
  expect(read[3]).toMatchObject({ id: "2", code: -32600 });
});

test("answers of a batch keep their characters", () => {
  expect(batchText(['{"id":1.0}', '{"id":"a"}'])).toBe('[{"id":1.0},{"id":"a"}]');
});
