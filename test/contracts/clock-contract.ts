import { expect, test } from "vitest";
import type { Clock } from "../../src/index.js";

export interface MovableClock {
  readonly clock: Clock;
  /** Lets `ms` pass. */
  pass(ms: number): Promise<void>;
}

/** What every clock promises. */
export function clockContract(name: string, create: () => MovableClock): void {
  test(`${name}: a timer fires once, not early, with time moved on`, async () => {
    const { clock, pass } = create();
    const start = clock.now();
    let fired = 0;
    clock.after(50, () => {
      fired += 1;
    });
    await pass(20);
    expect(fired).toBe(0);
    await pass(200);
    expect(fired).toBe(1);
    expect(clock.now() - start).toBeGreaterThanOrEqual(200);
  });

  test(`${name}: timers fire in order of due time`, async () => {
    const { clock, pass } = create();
    const fired: string[] = [];
    clock.after(60, () => fired.push("later"));
    clock.after(20, () => fired.push("sooner"));
    await pass(200);
    expect(fired).toEqual(["sooner", "later"]);
  });

  test(`${name}: a stopped timer does not fire, and stopping again is harmless`, async () => {
    const { clock, pass } = create();
    let fired = 0;
    const stopFirst = clock.after(20, () => {
      fired += 1;
    });
    const stopSecond = clock.after(20, () => {
      fired += 10;
    });
    stopFirst();
    stopFirst();
    await pass(100);
    stopSecond();
    expect(fired).toBe(10);
  });

  test(`${name}: a delay of weeks does not fire at once`, async () => {
    const { clock, pass } = create();
    let fired = false;
    const stop = clock.after(2 ** 31 + 1000, () => {
      fired = true;
    });
    await pass(50);
    expect(fired).toBe(false);
    stop();
  });
}
