import { describe, expect, it } from "vitest";
import { parseDuration, parseLimit, parseSize } from "../../../adapters/sidecar/quantities.js";

describe("quantities", () => {
  it.each([
    ["0", 0],
    ["250", 250],
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5s", 1_500],
    ["10m", 600_000],
    ["2 min", 120_000],
    ["1h", 3_600_000],
    ["1d", 86_400_000],
    ["", undefined],
    ["-1s", undefined],
    ["1 fortnight", undefined],
    ["s", undefined],
    ["1e3", undefined],
    ["9999999999999999d", undefined],
  ])("a duration %j is %j ms", (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each([
    ["64mb", 67_108_864],
    ["64 MB", 67_108_864],
    ["512kb", 524_288],
    ["1gb", 1_073_741_824],
    ["100", 100],
    ["100b", 100],
    ["10s", undefined],
  ])("a size %j is %j bytes", (text, expected) => {
    expect(parseSize(text)).toBe(expected);
  });

  it("a limit's name says its unit", () => {
    expect(parseLimit("parkMs", "1m")).toBe(60_000);
    expect(parseLimit("maxMessageBytes", "1kb")).toBe(1_024);
    expect(parseLimit("maxSessions", "12")).toBe(12);
    expect(parseLimit("maxSessions", "1m")).toBeUndefined();
  });
});
