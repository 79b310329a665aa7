import { expect, test } from "vitest";
import { createGauge } from "../../src/bridge/gauge.js";
import { NOBODY } from "../../src/model/caller.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import { complete, createScriptedService } from "../support/scripted-service.js";

const OPERATION = {
  method: "tools/call",
  params: "{}",
  caller: NOBODY,
  logLevel: undefined,
  wantsProgress: false,
  answers: undefined,
};

test("it counts what goes through the service and what goes another way", async () => {
  const gauge = createGauge(createManualClock());
  const scripted = createScriptedService();
  const service = gauge.interceptor(scripted.service);
  void service.relay(OPERATION, () => undefined, new AbortController().signal);
  const leave = gauge.enter();
  expect(gauge.open()).toBe(2);
  leave();
  scripted.calls[0]?.settle(complete("{}"));
  await settle();
  expect(gauge.open()).toBe(0);
});

test("everybody who waits for idleness is told at once, and no timer stays", async () => {
  const clock = createManualClock();
  const gauge = createGauge(clock);
  const leave = gauge.enter();
  let told = 0;
  for (const ms of [1_000, 2_000]) void gauge.idle(ms).then(() => told++);
  await settle();
  expect(told).toBe(0);
  leave();
  await settle();
  expect([told, clock.pending]).toEqual([2, 0]);
});

test("each waits no longer than its own time", async () => {
  const clock = createManualClock();
  const gauge = createGauge(clock);
  gauge.enter();
  const told: number[] = [];
  for (const ms of [1_000, 2_000]) void gauge.idle(ms).then(() => told.push(ms));
  await clock.pass(1_000);
  expect(told).toEqual([1_000]);
  await clock.pass(1_000);
  expect([told, clock.pending]).toEqual([[1_000, 2_000], 0]);
});

test("an idle bridge is told so without a timer", async () => {
  const clock = createManualClock();
  await createGauge(clock).idle(1_000);
  expect(clock.pending).toBe(0);
});
