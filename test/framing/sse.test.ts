import { describe, expect, it } from "vitest";
import { createSseDecoder, type SseEvent, sseComment, sseEvent } from "../../src/framing/sse.js";
import { cpuTime } from "../support/cpu-time.js";

const MIB = 1024 * 1024;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function decodeAll(chunks: readonly Uint8Array[], maxBytes = MIB) {
  const events: SseEvent[] = [];
  const oversized: string[] = [];
  const retries: number[] = [];
  const decoder = createSseDecoder({
    maxBytes,
    onEvent: (event) => events.push(event),
    onOversized: (head) => oversized.push(head),
    onRetry: (milliseconds) => retries.push(milliseconds),
  });
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return { events, oversized, retries, lastEventId: decoder.lastEventId };
}

const eventsOf = (text: string): readonly SseEvent[] => decodeAll([encode(text)]).events;
const dataOf = (text: string): readonly string[] => eventsOf(text).map((event) => event.data);
const plain = (data: string): SseEvent => ({
  event: "message",
  data,
  id: undefined,
  retry: undefined,
});

/** Every way to cut the bytes in two, all of them as single bytes, and all in one. */
function cuttings(bytes: Uint8Array): readonly (readonly Uint8Array[])[] {
  const inTwo = [...bytes.keys()].map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [[bytes], [...bytes].map((byte) => Uint8Array.of(byte)), ...inTwo];
}

describe("an event stream", () => {
  it("gives the event of the usual chunk", () => {
    expect(eventsOf('event: message\ndata: {"a":1}\n\n')).toEqual([plain('{"a":1}')]);
  });

  it("gives name, id and retry", () => {
    expect(eventsOf("event: endpoint\nid: 7\nretry: 500\ndata: /messages?s=1\n\n")).toEqual([
      { event: "endpoint", data: "/messages?s=1", id: "7", retry: 500 },
    ]);
  });

  it.each([
    ["CRLF", "event: endpoint\r\ndata: 1\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n"],
    ["CR", "event: endpoint\rdata: 1\rdata: 2\r\rdata: 3\r\r"],
    ["LF", "event: endpoint\ndata: 1\ndata: 2\n\ndata: 3\n\n"],
    ["a mixture", "event: endpoint\r\ndata: 1\rdata: 2\n\rdata: 3\r\r\n"],
  ])("may end its lines in %s, cut anywhere", (_, text) => {
    for (const chunks of cuttings(encode(text))) {
      expect(decodeAll(chunks).events).toEqual([
        { ...plain("1\n2"), event: "endpoint" },
        plain("3"),
      ]);
    }
  });

  it("gives an event at the CR of its blank line, before a LF that may follow", () => {
    const data: string[] = [];
    const decoder = createSseDecoder({
      maxBytes: MIB,
      onEvent: (event) => data.push(event.data),
      onOversized: () => {},
    });
    decoder.push(encode("data: 1\r\n\r"));
    expect(data).toEqual(["1"]);
    decoder.push(encode("\ndata: 2\r\n\r\n"));
    expect(data).toEqual(["1", "2"]);
  });

  it("may begin with a byte order mark, cut anywhere", () => {
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, ...encode("data: 1\n\n"));
    for (const chunks of cuttings(bytes)) expect(decodeAll(chunks).events).toEqual([plain("1")]);
  });

  it("keeps a byte order mark anywhere else", () => {
    expect(dataOf("data: \ufeff1\n\n\ufeffdata: 2\n\ndata: 3\n\n")).toEqual(["\ufeff1", "3"]);
  });

  it("keeps a character whole that is cut after each of its bytes", () => {
    for (const chunks of cuttings(encode('data: "🦊 狐 ñ"\n\n'))) {
      expect(decodeAll(chunks).events).toEqual([plain('"🦊 狐 ñ"')]);
    }
  });

  it("joins several data lines with LF", () => {
    expect(dataOf('data: {\ndata:   "a": [\ndata:     1\ndata:   ]\ndata: }\n\n')).toEqual([
      '{\n  "a": [\n    1\n  ]\n}',
    ]);
  });

  it("takes one space away behind the colon and no more", () => {
    expect(dataOf("data:1\n\ndata: 1\n\ndata:  1\n\n")).toEqual(["1", "1", " 1"]);
  });

  // The example of the HTML standard: the middle event is one line end, the last has no blank line.
  it("gives empty data for a data field without value", () => {
    expect(dataOf("data\n\ndata\ndata\n\ndata:\n")).toEqual(["", "\n"]);
  });

  it("discards the last event without its blank line", () => {
    expect(decodeAll([encode("id: 1\ndata: 1\n\nid: 2\ndata: 2\n")])).toMatchObject({
      events: [{ data: "1" }],
      lastEventId: "1",
    });
  });

  it("skips comments and unknown fields", () => {
    expect(dataOf(": keep-alive\n\n:\nfoo: bar\nDATA: 0\ndata: 1\n:x\n\n")).toEqual(["1"]);
  });

  it("forgets the name of an event without data", () => {
    expect(eventsOf("event: ping\n\ndata: 1\n\n")).toEqual([plain("1")]);
  });
});

describe("an event id", () => {
  it("counts without data", () => {
    expect(decodeAll([encode("id: abc\n\n")])).toMatchObject({ events: [], lastEventId: "abc" });
  });

  it("is seen on an event with empty data", () => {
    expect(eventsOf("id: abc\nretry: 500\ndata:\n\n")).toEqual([
      { event: "message", data: "", id: "abc", retry: 500 },
    ]);
  });

  it("belongs to its own event and stays the stream's last", () => {
    const { events, lastEventId } = decodeAll([encode("id: a\ndata: 1\n\ndata: 2\n\n")]);
    expect(events.map((event) => event.id)).toEqual(["a", undefined]);
    expect(lastEventId).toBe("a");
  });

  it("with NUL is ignored, and an empty one takes the last back", () => {
    expect(decodeAll([encode("id: a\n\nid: b\0c\ndata: 1\n\n")])).toMatchObject({
      events: [{ id: undefined }],
      lastEventId: "a",
    });
    expect(decodeAll([encode("id: a\n\nid\ndata: 1\n\n")])).toMatchObject({
      events: [{ id: "" }],
      lastEventId: "",
    });
  });
});

describe("retry", () => {
  it("counts when it is all digits", () => {
    const text = "retry: 5s\nretry:\nretry: -1\nretry: 1.5\nretry: ٣\nretry: 0500\n\n";
    expect(decodeAll([encode(text)]).retries).toEqual([500]);
  });

  it("is never longer than a timer can hold", () => {
    expect(decodeAll([encode(`retry: ${"9".repeat(400)}\n`)]).retries).toEqual([2_147_483_647]);
  });
});

describe("an event over the limit", () => {
  it("is dropped with the head of its line, and its id and the next event still count", () => {
    const text = `id: 7\ndata: ${"x".repeat(5_000)}\nid: 8\n\ndata: ok\n\n`;
    const bytes = encode(text);
    const expected = {
      events: [plain("ok")],
      oversized: [`data: ${"x".repeat(1_018)}`],
      retries: [],
      lastEventId: "8",
    };
    expect(decodeAll([bytes], 2_000)).toEqual(expected);
    expect(decodeAll([bytes.subarray(0, 1_500), bytes.subarray(1_500)], 2_000)).toEqual(expected);
    expect(
      decodeAll(
        [...bytes].map((byte) => Uint8Array.of(byte)),
        2_000,
      ),
    ).toEqual(expected);
  });

  it("may also be one of many short lines", () => {
    const result = decodeAll([encode(`${"data\n".repeat(100)}\ndata: ok\n\n`)], 50);
    expect(result).toMatchObject({ events: [plain("ok")], oversized: ["data"] });
  });

  it("is one byte longer than the longest that passes", () => {
    const text = "data: 1234\n\ndata: 12345\n\ndata: 12\ndata: 3\n\ndata: 12\ndata: 34\n\n";
    expect(decodeAll([encode(text)], 4)).toMatchObject({
      events: [plain("1234"), plain("12\n3")],
      oversized: ["data: 12345", "data: 34"],
    });
  });

  it("is not what a long comment makes of the event around it", () => {
    const result = decodeAll([encode(`data: 1\n:${"x".repeat(500)}\n\n`)], 50);
    expect(result).toMatchObject({ events: [plain("1")], oversized: [] });
  });
});

describe("a stream of many megabytes", () => {
  const milliseconds = (bytes: number): number => {
    const chunk = new Uint8Array(4_096).fill(0x61);
    let length = 0;
    const decoder = createSseDecoder({
      maxBytes: 64 * MIB,
      onEvent: (event) => {
        length = event.data.length;
      },
      onOversized: () => {},
    });
    const took = cpuTime(() => {
      decoder.push(encode("data: "));
      for (let sent = 0; sent < bytes; sent += chunk.length) decoder.push(chunk);
      decoder.push(encode("\n\n"));
    });
    expect(length).toBe(bytes);
    return took;
  };

  it("in chunks of 4 KiB costs linear time", () => {
    milliseconds(4 * MIB);
    const small = milliseconds(8 * MIB);
    // Eight times the bytes; quadratic time would be sixty-four times as much.
    expect(milliseconds(64 * MIB)).toBeLessThan(Math.max(small, 5) * 24);
  });
});

describe("a written event", () => {
  it("has its fields in a fixed order and ends in a blank line", () => {
    expect(sseEvent({ data: '{"a":1}' })).toBe('data: {"a":1}\n\n');
    expect(sseEvent({ data: "x", event: "message", id: "s1/4", retry: 500 })).toBe(
      "event: message\nid: s1/4\nretry: 500\ndata: x\n\n",
    );
    expect(sseEvent({ id: "s1/0", data: "" })).toBe("id: s1/0\ndata: \n\n");
  });

  it("writes each line of its data as a field", () => {
    expect(sseEvent({ data: "{\r\n $1\r}\n" })).toBe("data: {\ndata:  $1\ndata: }\ndata: \n\n");
  });

  it("refuses an id or a name that would write other fields", () => {
    expect(() => sseEvent({ data: "", id: "1\ndata: x" })).toThrow(TypeError);
    expect(() => sseEvent({ data: "", id: "1\0" })).toThrow(TypeError);
    expect(() => sseEvent({ data: "", event: "a\rb" })).toThrow(TypeError);
  });

  it("reads back as what it was", () => {
    const written = sseEvent({ data: " a\nb:\n", event: "e", id: "", retry: 1 });
    expect(eventsOf(`${sseComment("x\ny")}${written}${sseComment()}`)).toEqual([
      { event: "e", data: " a\nb:\n", id: "", retry: 1 },
    ]);
  });

  it("may be a comment", () => {
    expect(sseComment()).toBe(": \n\n");
    expect(sseComment("a\nb")).toBe(": a\n: b\n\n");
  });
});
