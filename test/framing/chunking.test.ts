import fc from "fast-check";
import { expect, it } from "vitest";
import { createLineDecoder } from "../../src/framing/lines.js";
import { createSseDecoder, sseEvent } from "../../src/framing/sse.js";
import { onOneLine } from "../../src/jsonrpc/json-text.js";
import { chunked, jsonText } from "../support/arbitraries.js";

type Decode = (chunks: readonly Uint8Array[]) => readonly unknown[];

const decodeLines: Decode = (chunks) => {
  const seen: unknown[] = [];
  const decoder = createLineDecoder({
    maxBytes: 60,
    onLine: (text) => seen.push(text),
    onDropped: (reason, head) => seen.push([reason, head]),
  });
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return seen;
};

const decodeEvents: Decode = (chunks) => {
  const seen: unknown[] = [];
  const decoder = createSseDecoder({
    maxBytes: 60,
    onEvent: (event) => seen.push(event),
    onOversized: (head) => seen.push(head),
    onRetry: (milliseconds) => seen.push(milliseconds),
  });
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return [...seen, decoder.lastEventId];
};

const bytesOf = (parts: readonly (string | number)[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === "number" ? part : [...new TextEncoder().encode(part)],
    ),
  );

/** Texts, line ends and stray bytes in any order. */
const streamOf = (words: readonly string[]): fc.Arbitrary<Uint8Array> =>
  fc
    .array(
      fc.oneof(
        jsonText,
        fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\ufeff", " ", ...words),
        fc.constantFrom(0xe9, 0xf0, 0x9f, 0xed),
      ),
      { maxLength: 20 },
    )
    .map(bytesOf);

const anyCut = (stream: fc.Arbitrary<Uint8Array>) =>
  stream.chain((bytes) => fc.tuple(fc.constant(bytes), chunked(bytes)));

it.each([
  ["lines", decodeLines, streamOf([])],
  ["events", decodeEvents, streamOf(["data: ", "data", "id: 1", "event:", "retry: 5", ":", "\0"])],
] as const)("%s are the same however the bytes are cut", (_, decode, stream) => {
  fc.assert(
    fc.property(anyCut(stream), ([bytes, chunks]) => {
      const whole = decode([bytes]);
      expect(decode(chunks)).toEqual(whole);
      expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
    }),
    { numRuns: 500 },
  );
});

it("events are the same whichever way each of their lines ends", () => {
  const line = fc.oneof(
    fc.constantFrom("", "event: endpoint", "data: 1", "data", "id: 7", "retry: 5", ": x"),
    jsonText.map((text) => `data: ${onOneLine(text)}`),
  );
  const ended = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")), { maxLength: 20 });
  fc.assert(
    fc.property(ended, (lines) => {
      // A blank line's LF behind a CR would be the second half of that line end.
      const unlike = lines.map(([text, end], i) =>
        text === "" && lines[i - 1]?.[1] === "\r" ? [text, "\r"] : [text, end],
      );
      const alike = lines.map(([text]) => `${text}\n`);
      expect(decodeEvents([bytesOf(unlike.flat())])).toEqual(decodeEvents([bytesOf(alike)]));
    }),
    { numRuns: 500 },
  );
});

it("every JSON text comes through lines as it went in", () => {
  fc.assert(
    fc.property(fc.array(jsonText, { maxLength: 5 }), (texts) => {
      const lines: string[] = [];
      const onLine = (text: string): void => void lines.push(text);
      const decoder = createLineDecoder({
        maxBytes: 100_000,
        onLine,
        onDropped: expect.unreachable,
      });
      decoder.push(bytesOf(texts.map((text) => `${onOneLine(text)}\n`)));
      expect(lines).toEqual(texts.map(onOneLine));
    }),
  );
});

it("every JSON text comes through events with its value unchanged", () => {
  fc.assert(
    fc.property(fc.array(jsonText, { maxLength: 5 }), (texts) => {
      const data: string[] = [];
      const decoder = createSseDecoder({
        maxBytes: 100_000,
        onEvent: (event) => data.push(event.data),
        onOversized: expect.unreachable,
      });
      decoder.push(bytesOf(texts.map((text) => sseEvent({ data: text }))));
      expect(data).toEqual(texts.map((text) => text.replaceAll(/\r\n?/g, "\n")));
    }),
  );
});
