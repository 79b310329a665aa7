import { describe, expect, it } from "vitest";
import type { ServerRecord } from "./catalogue.js";
import { canonical, digest, firstDifference } from "./json.js";
import type { Observation } from "./observe.js";
import { differencesFromRecord } from "./record-check.js";

describe("a value", () => {
  it("has one canonical text and the digest of it", () => {
    expect(canonical({ b: [1, { d: null, c: "x" }], a: true })).toBe(
      '{"a":true,"b":[1,{"c":"x","d":null}]}',
    );
    // sha256 of "{}"
    expect(digest({})).toBe("44136fa355b3678a");
  });

  it("parts from another at a named place", () => {
    expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toBe(
      "a.1.b: expected 2, seen 3",
    );
    expect(firstDifference({ a: null }, {})).toBe("a: expected null, seen nothing");
    expect(firstDifference({ a: 1, b: 2 }, { b: 2, a: 1 })).toBeUndefined();
    const text = "-".repeat(500);
    expect(firstDifference(`${text}a`, `${text}b`)).toBe(
      `value: expected "...${"-".repeat(30)}a", seen "...${"-".repeat(30)}b"`,
    );
  });
});

describe("a direct run", () => {
  const record: ServerRecord = {
    package: "a-server",
    version: "1.0.0",
    runtime: "node",
    bin: "server.js",
    era: "legacy",
    revision: "2025-06-18",
    lists: {
      // sha256 of ["echo"] and of [{"name":"echo"}]
      tools: { count: 1, names: "814fb24ccab13287", digest: "59ad15eb4d9f8ffe", stable: true },
      prompts: { count: 0, error: -32_601 },
    },
    calls: [],
  };
  const seen = (tool: string): Observation => ({
    opening: { result: { protocolVersion: "2025-06-18" } },
    lists: {
      tools: { items: [{ name: tool }], pages: [{}] },
      prompts: { items: [], pages: [], failure: { error: { code: -32_601, message: "no" } } },
    },
    calls: [],
    further: [],
    closing: { code: 0, by: "itself", ms: 0, leftovers: [], offences: [], complaints: "" },
  });

  it("is as recorded when revision, lists and errors are", () => {
    expect(differencesFromRecord(record, seen("echo"))).toEqual([]);
  });

  it("is not when a name changed", () => {
    expect(differencesFromRecord(record, seen("ecco"))).toEqual(["tools: other names"]);
  });
});
