import { expect, test } from "vitest";
import { createDeparture } from "../../../adapters/http/departure.js";

test("whoever listens is told once, in turn, and `aborted` says it already", () => {
  const { departure, depart } = createDeparture();
  const told: string[] = [];
  const first = (): void => {
    told.push(`first ${departure.aborted}`);
  };
  departure.addEventListener("abort", first);
  departure.addEventListener("abort", first);
  departure.addEventListener("abort", () => told.push("second"), { once: true });
  expect(departure.aborted).toBe(false);
  depart();
  depart();
  expect(told).toEqual(["first true", "second"]);
});

test("whoever has stopped listening is not told, not even by one who is told before", () => {
  const { departure, depart } = createDeparture();
  const told: string[] = [];
  const early = (): void => {
    told.push("early");
  };
  const late = (): void => {
    told.push("late");
  };
  departure.addEventListener("abort", early);
  departure.removeEventListener("abort", early);
  departure.removeEventListener("abort", early);
  departure.addEventListener("abort", () => departure.removeEventListener("abort", late));
  departure.addEventListener("abort", late);
  depart();
  expect(told).toEqual([]);
});

test("whoever begins to listen afterwards is not told", () => {
  const { departure, depart } = createDeparture();
  depart();
  departure.addEventListener("abort", () => expect.unreachable());
  depart();
  expect(departure.aborted).toBe(true);
});
