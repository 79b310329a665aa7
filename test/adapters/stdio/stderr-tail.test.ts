import { expect, test } from "vitest";
import { createStderrTail } from "../../../adapters/stdio/stderr-tail.js";

function collect(maxBytes: number) {
  const lines: string[] = [];
  const tail = createStderrTail({ maxBytes, onLine: (line) => lines.push(line) });
  return { lines, tail, push: (text: string) => tail.push(Buffer.from(text)) };
}

test("lines come whole, without their ends and without blank ones", () => {
  const { lines, tail, push } = collect(100);
  push("on");
  push("e\r\n\ntwo\nthr");
  expect(lines).toEqual(["one", "two"]);
  push("ee");
  tail.end();
  expect(lines).toEqual(["one", "two", "three"]);
});

test("a character that is cut between two chunks stays whole", () => {
  const lines: string[] = [];
  const tail = createStderrTail({ maxBytes: 100, onLine: (line) => lines.push(line) });
  for (const byte of Buffer.from("漢😀\n")) tail.push(Buffer.of(byte));
  expect(lines).toEqual(["漢😀"]);
});

test("only the end is kept", () => {
  const { tail, push } = collect(8);
  push("0123456789");
  push("ab");
  expect(tail.text()).toBe("456789ab");
});

test("a line without end is cut instead of kept", () => {
  const { lines, tail, push } = collect(4);
  push("abcd");
  push("ef\nlonger than that\n");
  tail.end();
  expect(lines).toEqual(["abcd", "ef", "long"]);
});

test("what is no UTF-8 does no harm", () => {
  const { lines, tail } = collect(100);
  tail.push(Buffer.of(0xff, 0x41, 0x0a));
  expect(lines).toEqual(["\ufffdA"]);
});
