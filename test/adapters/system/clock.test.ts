import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSystemClock } from "../../../adapters/system/clock.js";
import { clockContract } from "../../contracts/clock-contract.js";
import { createManualClock } from "../../support/manual-clock.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

clockContract("system", () => ({
  clock: createSystemClock(),
  pass: async (ms) => {
    await vi.advanceTimersByTimeAsync(ms);
  },
}));

test("a delay longer than Node's longest timer fires when it is over, and can be stopped late", () => {
  const clock = createSystemClock();
  const fired: string[] = [];
  clock.after(2 ** 31 + 500, () => fired.push("kept"));
  const stop = clock.after(2 ** 31 + 500, () => fired.push("stopped"));
  vi.advanceTimersByTime(2 ** 31 + 499);
  expect(fired).toEqual([]);
  stop();
  vi.advanceTimersByTime(1);
  expect(fired).toEqual(["kept"]);
});

test("pending timers do not keep the process alive", () => {
  vi.useRealTimers();
  const holding = () =>
    process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = holding();
  const stop = createSystemClock().after(60_000, () => undefined);
  expect(holding()).toBe(before);
  stop();
});

clockContract("manual", () => {
  vi.useRealTimers();
  const clock = createManualClock();
  return { clock, pass: (ms) => clock.pass(ms) };
});
