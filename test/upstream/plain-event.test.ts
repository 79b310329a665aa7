import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseDecoder, type SseEvent } from "../../src/framing/sse.js";
import { decodeLenient } from "../../src/upstream/http-body.js";
import { readPlainEvent } from "../../src/upstream/plain-event.js";

const encoder = new TextEncoder();

function plain(text: string) {
  return readPlainEvent(encoder.encode(text), decodeLenient);
}

function decoded(chunk: Uint8Array): { events: SseEvent[]; standsAt: string } {
  const events: SseEvent[] = [];
  const decoder = createSseDecoder({
    maxBytes: 10_000,
    onEvent: (event) => events.push(event),
    onOversized: () => expect.fail("oversized"),
  });
  decoder.push(chunk);
  return { events, standsAt: decoder.lastEventId };
}

describe("the short way to read one event", () => {
  it.each([
    ['data: {"a":1}\n\n', { data: '{"a":1}', id: undefined }],
    ["event: message\ndata: é\n\n", { data: "é", id: undefined }],
    ["id: 7\nevent: message\ndata: x\n\n", { data: "x", id: "7" }],
    ["event: message\ndata: x\nid: a b\n\n", { data: "x", id: "a b" }],
  ])("reads %j", (text, event) => {
    expect(plain(text)).toEqual(event);
  });

  it.each([
    "data: x\n",
    "data: x",
    "data: a\ndata: b\n\n",
    "data: a\n\ndata: b\n\n",
    "data:x\n\n",
    "data: x\r\n\r\n",
    "event: ping\ndata: x\n\n",
    "retry: 5\ndata: x\n\n",
    ": comment\n\n",
    "id: 7\n\n",
    "\ufeffdata: x\n\n",
    "\n\n",
    "",
  ])("leaves %j to the decoder", (text) => {
    expect(plain(text)).toBeUndefined();
  });

  it("never reads a chunk otherwise than the decoder does", () => {
    const part = fc.constantFrom(
      "data: ",
      "data:",
      "event: message",
      "event: ",
      "id: ",
      "retry: 5",
      ":",
      "\n",
      "\n\n",
      "\r",
      "\0",
      "\ufeff",
      "x",
      " ",
      "é",
    );
    let read = 0;
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => encoder.encode(`${parts.join("")}\n\n`)),
        (chunk) => {
          const event = readPlainEvent(chunk, decodeLenient);
          if (event === undefined) return;
          read += 1;
          const { events, standsAt } = decoded(chunk);
          expect(events).toMatchObject([{ event: "message", data: event.data, id: event.id }]);
          expect(standsAt).toBe(event.id ?? "");
        },
      ),
      { numRuns: 5_000 },
    );
    expect(read).toBeGreaterThan(50);
  });
});
