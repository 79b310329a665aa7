import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTurnoverMap, createTurnoverSet } from "../../src/model/turnover.js";

const key = fc.integer({ min: 0, max: 40 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant("put"), key, value: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("delete"), key, value: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("clear"), key, value: fc.nat() }) },
);
const steps = fc.array(step, { maxLength: 200, size: "max" });

test("a map tells the same as any other, in the same order", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const map = createTurnoverMap<number, number>();
      const model = new Map<number, number>();
      for (const { act, key, value } of all) {
        if (act === "clear") for (const each of [map, model]) each.clear();
        else if (act === "delete") expect(map.delete(key)).toBe(model.delete(key));
        else for (const each of [map, model]) each.set(key, value);
        expect(map.get(key)).toBe(model.get(key));
        expect(map.has(key)).toBe(model.has(key));
        expect(map.size).toBe(model.size);
      }
      const visited: [number, number][] = [];
      map.forEach((value, key) => {
        visited.push([key, value]);
      });
      for (const entries of [visited, map, map.entries()]) expect([...entries]).toEqual([...model]);
      expect([...map.keys()]).toEqual([...model.keys()]);
      expect([...map.values()]).toEqual([...model.values()]);
    }),
  );
});

test("a set tells the same as any other, in the same order", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const set = createTurnoverSet<number>();
      const model = new Set<number>();
      for (const { act, key } of all) {
        if (act === "clear") for (const each of [set, model]) each.clear();
        else if (act === "delete") expect(set.delete(key)).toBe(model.delete(key));
        else for (const each of [set, model]) each.add(key);
        expect(set.has(key)).toBe(model.has(key));
        expect(set.size).toBe(model.size);
      }
      const visited: number[] = [];
      set.forEach((value) => {
        visited.push(value);
      });
      for (const values of [visited, set, set.values(), set.keys()]) {
        expect([...values]).toEqual([...model]);
      }
      expect([...set.entries()]).toEqual([...model.entries()]);
    }),
  );
});

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as (options: { readonly type: "minor" | "major" }) => void;

/** Bytes that are kept of a thousand requests of 16 kB, of which sixteen are under way at a time. */
function keptBy(table: Map<number, unknown>): number {
  const enter = (id: number): unknown => table.set(id, new Array(2_000).fill(id));
  for (let id = 0; id < 16; id++) enter(id);
  // What survives twice is old.
  for (let i = 0; i < 3; i++) gc({ type: "minor" });
  const before = process.memoryUsage().heapUsed;
  for (let id = 16; id < 1_016; id++) {
    enter(id);
    table.delete(id - 16);
    if (id % 100 === 0) gc({ type: "minor" });
  }
  gc({ type: "minor" });
  gc({ type: "minor" });
  return process.memoryUsage().heapUsed - before;
}

test("what has left an old map is collected with the young", () => {
  // All is 16 MB, and a plain map of Node 20 keeps nearly that.
  expect(keptBy(createTurnoverMap())).toBeLessThan(4_000_000);
});
