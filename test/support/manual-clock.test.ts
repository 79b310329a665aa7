import { expect, test } from "vitest";
import { createManualClock } from "./manual-clock.js";

test("timers fire in order of due time, equal ones in order of creation, at their own time", () => {
  const clock = createManualClock(0);
  const fired: string[] = [];
  const note = (name: string) => () => fired.push(`${name}@${clock.now()}`);
  clock.after(20, note("late"));
  clock.after(10, note("first"));
  clock.after(10, note("second"));
  clock.advance(15);
  expect(fired).toEqual(["first@10", "second@10"]);
  clock.advance(100);
  expect(fired).toEqual(["first@10", "second@10", "late@20"]);
  expect(clock.now()).toBe(115);
});

test("a stopped timer never fires and is no longer pending", () => {
  const clock = createManualClock();
  const stop = clock.after(5, () => expect.unreachable());
  expect(clock.pending).toBe(1);
  stop();
  clock.advance(10);
  expect(clock.pending).toBe(0);
});

test("passing time lets promises start timers that fall due in the same span", async () => {
  const clock = createManualClock(0);
  const fired: number[] = [];
  const wait = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const done = (async () => {
    await wait(10);
    fired.push(clock.now());
    await wait(10);
    fired.push(clock.now());
  })();
  await clock.pass(20);
  await done;
  expect(fired).toEqual([10, 20]);
});
