import { describe, expect, it } from "vitest";
import { createLineDecoder } from "../../src/framing/lines.js";
import { cpuTime } from "../support/cpu-time.js";

const MIB = 1024 * 1024;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function decodeAll(chunks: readonly Uint8Array[], maxBytes = MIB) {
  const lines: string[] = [];
  const dropped: (readonly [string, string])[] = [];
  const decoder = createLineDecoder({
    maxBytes,
    onLine: (text) => lines.push(text),
    onDropped: (reason, head) => dropped.push([reason, head]),
  });
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return { lines, dropped };
}

describe("lines", () => {
  it("come one by one from a chunk that holds several", () => {
    expect(decodeAll([encode('{"a":1}\n{"b":2}\n')]).lines).toEqual(['{"a":1}', '{"b":2}']);
  });

  it("may end in CRLF, and blank ones are skipped", () => {
    const text = '\r\n\n  \n{"a":1}\r\n\t\r\n{"b":2}\n';
    expect(decodeAll([encode(text)])).toEqual({ lines: ['{"a":1}', '{"b":2}'], dropped: [] });
  });

  it("keep a CRLF whose two bytes arrive apart out of the text", () => {
    expect(decodeAll([encode('{"a":1}\r'), encode('\n{"b":2}')]).lines).toEqual([
      '{"a":1}',
      '{"b":2}',
    ]);
  });

  it("are delivered at the end without a line end", () => {
    expect(decodeAll([encode('{"a":1}\n{"b"'), encode(":2}")]).lines).toEqual([
      '{"a":1}',
      '{"b":2}',
    ]);
  });

  it("lose a byte order mark", () => {
    expect(decodeAll([Uint8Array.of(0xef, 0xbb, 0xbf), encode('{"a":1}\n')]).lines).toEqual([
      '{"a":1}',
    ]);
  });

  it("are the same when every byte comes alone", () => {
    const text = '{"t":"🦊 狐 ñ \u2028 \\ud83d \\u0000"}\n';
    const bytes = [...encode(text)].map((byte) => Uint8Array.of(byte));
    expect(decodeAll(bytes).lines).toEqual([text.trimEnd()]);
  });

  it("are whole even when the giver reuses the memory of its chunks", () => {
    const memory = new Uint8Array(4);
    const lines: string[] = [];
    const decoder = createLineDecoder({
      maxBytes: MIB,
      onLine: (text) => lines.push(text),
      onDropped: () => {},
    });
    for (const piece of ['{"a"', ":12}", "\n[3]", "\n   "]) {
      memory.set(encode(piece));
      decoder.push(memory);
    }
    expect(lines).toEqual(['{"a":12}', "[3]"]);
  });
});

describe("a line over the limit", () => {
  it("is dropped with its head, and the next line still comes", () => {
    const long = `{"jsonrpc":"2.0","id":7,"result":"${"x".repeat(5_000)}"}`;
    const bytes = encode(`${long}\n{"b":2}\n`);
    const chunks = [bytes.subarray(0, 900), bytes.subarray(900, 3_000), bytes.subarray(3_000)];
    expect(decodeAll(chunks, 2_000)).toEqual({
      lines: ['{"b":2}'],
      dropped: [["oversized", long.slice(0, 1_024)]],
    });
  });

  it("is told as soon as it is too long, and once", () => {
    const dropped: string[] = [];
    const decoder = createLineDecoder({
      maxBytes: 4,
      onLine: () => {},
      onDropped: (reason) => dropped.push(reason),
    });
    decoder.push(encode("12345"));
    expect(dropped).toEqual(["oversized"]);
    decoder.push(encode("6789"));
    decoder.end();
    expect(dropped).toEqual(["oversized"]);
  });

  it("is one byte longer than the longest that passes", () => {
    expect(decodeAll([encode("1234\n12345\n123\n")], 4)).toEqual({
      lines: ["1234", "123"],
      dropped: [["oversized", "1234"]],
    });
  });
});

describe("a line that is no UTF-8", () => {
  it("is dropped and not repaired, and the next line still comes", () => {
    const latin1 = Uint8Array.of(0x22, 0xe9, 0x22, 0x0a);
    expect(decodeAll([encode("[1]\n"), latin1, encode("[2]\n")])).toEqual({
      lines: ["[1]", "[2]"],
      dropped: [["not-utf8", '"\ufffd"']],
    });
  });

  it("may also be an encoded surrogate or end inside a character", () => {
    const surrogate = Uint8Array.of(0xed, 0xa0, 0xbd, 0x0a);
    const broken = Uint8Array.of(0xf0, 0x9f, 0xa6);
    expect(decodeAll([surrogate, broken]).dropped.map(([reason]) => reason)).toEqual([
      "not-utf8",
      "not-utf8",
    ]);
  });
});

describe("a line of many megabytes", () => {
  const milliseconds = (bytes: number): number => {
    const chunk = new Uint8Array(4_096).fill(0x61);
    let length = 0;
    const decoder = createLineDecoder({
      maxBytes: 64 * MIB,
      onLine: (text) => {
        length = text.length;
      },
      onDropped: () => {},
    });
    const took = cpuTime(() => {
      for (let sent = 0; sent < bytes; sent += chunk.length) decoder.push(chunk);
      decoder.push(encode("\n"));
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
