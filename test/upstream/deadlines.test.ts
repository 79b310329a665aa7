import { describe, expect, it } from "vitest";
import { createDeadlines, type Timed } from "../../src/upstream/deadlines.js";
import { createManualClock } from "../support/manual-clock.js";

function setUp() {
  const clock = createManualClock(0);
  const deadlines = createDeadlines(clock);
  const over: string[] = [];
  const timed = (name: string, dueAt: number): Timed => ({ dueAt, expire: () => over.push(name) });
  return { clock, deadlines, over, timed };
}

describe("deadlines", () => {
  it("expire at their time, each once", () => {
    const { clock, deadlines, over, timed } = setUp();
    for (const [name, at] of [
      ["b", 20],
      ["a", 10],
      ["c", 20],
    ] as const) {
      deadlines.watch(timed(name, at));
    }
    clock.advance(9);
    expect(over).toEqual([]);
    clock.advance(1);
    expect(over).toEqual(["a"]);
    clock.advance(100);
    expect(over).toEqual(["a", "b", "c"]);
    expect(clock.pending).toBe(0);
  });

  it("may move later, stand still, and be taken back", () => {
    const { clock, deadlines, over, timed } = setUp();
    const [moved, still, gone] = [timed("moved", 10), timed("still", 10), timed("gone", 10)];
    for (const each of [moved, still, gone]) deadlines.watch(each);
    moved.dueAt = 30;
    still.dueAt = Number.POSITIVE_INFINITY;
    deadlines.forget(gone);
    clock.advance(29);
    expect(over).toEqual([]);
    clock.advance(1);
    expect(over).toEqual(["moved"]);
    still.dueAt = 40;
    deadlines.watch(still);
    clock.advance(10);
    expect(over).toEqual(["moved", "still"]);
  });

  it("share one timer, however many come and go", () => {
    const { clock, deadlines, timed } = setUp();
    for (let n = 0; n < 1_000; n++) {
      const each = timed(`${n}`, 100 + n);
      deadlines.watch(each);
      deadlines.forget(each);
    }
    expect(clock.pending).toBe(1);
    deadlines.close();
    expect(clock.pending).toBe(0);
  });

  it("may forget and watch others while they expire", () => {
    const { clock, deadlines, over, timed } = setUp();
    const second = timed("second", 10);
    deadlines.watch({
      dueAt: 10,
      expire() {
        deadlines.forget(second);
        deadlines.watch(timed("third", 15));
      },
    });
    deadlines.watch(second);
    clock.advance(20);
    expect(over).toEqual(["third"]);
  });
});
