import { expect, test } from "vitest";
import {
  declaresTasks,
  readTask,
  taskParams,
  taskProgress,
  taskUpdateParams,
  withTasks,
} from "../../src/translation/tasks.js";

test("a task handle is read with its numbers and raw parts", () => {
  expect(
    readTask(
      '{"resultType":"task","taskId":"a\\u0062","status":"input_required","statusMessage":"busy","pollIntervalMs":250,"inputRequests":{"k":{}}}',
    ),
  ).toEqual({
    id: '"a\\u0062"',
    status: "input_required",
    statusMessage: "busy",
    pollIntervalMs: 250,
    inputRequests: '{"k":{}}',
    result: undefined,
    error: undefined,
  });
});

test.each(['{"taskId":"1"}', '{"taskId":7,"status":"working"}', '{"taskId":"1","status":"odd"}'])(
  "%s is no task",
  (result) => {
    expect(readTask(result)).toBeUndefined();
  },
);

test("the extension is declared beside what the client declared", () => {
  expect(withTasks('{"roots":{}}')).toBe(
    '{"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}',
  );
  expect(declaresTasks(withTasks("{}"))).toBe(true);
  expect(declaresTasks('{"extensions":{}}')).toBe(false);
});

test("requests about a task name it by its own characters", () => {
  expect(taskParams('"a\\u0062"')).toBe('{"taskId":"a\\u0062"}');
  expect(taskUpdateParams('"t"', '{"k":{"action":"accept"}}')).toBe(
    '{"taskId":"t","inputResponses":{"k":{"action":"accept"}}}',
  );
  expect(taskProgress(2, "half\n")).toBe('{"progress":2,"message":"half\\n"}');
});
