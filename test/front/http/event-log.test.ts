import { describe, expect, test } from "vitest";
import { createEventLog, type EventSink } from "../../../src/front/http/event-log.js";
import { createReplayBudget } from "../../../src/front/http/replay-budget.js";
import { DEFAULT_LIMITS, type Limits } from "../../../src/index.js";
import { createCountingEntropy } from "../../support/counting-entropy.js";
import { createManualClock } from "../../support/manual-clock.js";

function startLog(changed: Partial<Limits> = {}) {
  const clock = createManualClock();
  const limits = { ...DEFAULT_LIMITS, ...changed };
  const budget = createReplayBudget(clock, limits);
  const log = createEventLog({ clock, limits, budget, entropy: createCountingEntropy() });
  return { clock, budget, log };
}

interface Seen extends EventSink {
  readonly seen: string[];
}

function createSeen(): Seen {
  const seen: string[] = [];
  return {
    seen,
    event: (id, text) => seen.push(`${id}=${text}`),
    end: () => seen.push("end"),
  };
}

describe("a stream", () => {
  test("numbers its events and shows them as they come", () => {
    const { log } = startLog();
    const stream = log.open("call");
    const sink = createSeen();
    stream.attach(sink, "unseen");
    stream.write("a");
    stream.write("b");
    stream.finish();
    stream.write("c");
    expect(sink.seen).toEqual(["c_t1_1=a", "c_t1_2=b", "end"]);
  });

  test("is read on from any place, by one reader at a time", () => {
    const { log } = startLog();
    const stream = log.open("call");
    const first = createSeen();
    stream.attach(first, "unseen");
    for (const text of ["a", "b", "c"]) stream.write(text);
    const second = createSeen();
    const place = log.find("c_t1_1");
    place?.stream.attach(second, place.since);
    stream.write("d");
    expect(first.seen).toEqual(["c_t1_1=a", "c_t1_2=b", "c_t1_3=c", "end"]);
    expect(second.seen).toEqual(["c_t1_2=b", "c_t1_3=c", "c_t1_4=d"]);
  });

  test("keeps what nobody has seen", () => {
    const { log } = startLog();
    const stream = log.open("aside");
    stream.write("a");
    const first = createSeen();
    stream.attach(first, "unseen");
    stream.detach(first);
    stream.write("b");
    const second = createSeen();
    stream.attach(second, "unseen");
    expect([first.seen, second.seen]).toEqual([["a_t1_1=a"], ["a_t1_2=b"]]);
  });

  test.each([
    ["events", { maxReplayEvents: 2 }, ["c_t1_2=bb", "c_t1_3=cc"]],
    ["bytes", { maxReplayBytes: 3 }, ["c_t1_3=cc"]],
  ] as const)("keeps no more %s than it may", (_, limits, expected) => {
    const { log } = startLog(limits);
    const stream = log.open("call");
    for (const text of ["aa", "bb", "cc"]) stream.write(text);
    const sink = createSeen();
    stream.attach(sink, 0);
    expect(sink.seen).toEqual(expected);
  });

  test("keeps its newest event whatever its length, for it may be the answer", () => {
    const { log } = startLog({ maxReplayBytes: 3 });
    const stream = log.open("call");
    stream.write("a long answer");
    const sink = createSeen();
    stream.attach(sink, 0);
    expect(sink.seen).toEqual(["c_t1_1=a long answer"]);
  });
});

describe("a place", () => {
  test.each(["", "c_t1", "c_t1_x", "c_t9_1", "x_t1_1", "c_t1_1_1", "c_t1_-1"])(
    "is not named by %j",
    (id) => {
      const { log } = startLog();
      log.open("call").write("a");
      expect(log.find(id)).toBeUndefined();
    },
  );

  test("behind the end of a finished stream has nothing more to come", () => {
    const { log } = startLog();
    const stream = log.open("call");
    stream.write("a");
    expect(log.find("c_t1_1")?.exhausted).toBe(false);
    stream.finish();
    expect(log.find("c_t1_1")?.exhausted).toBe(true);
    expect(log.find("c_t1_0")?.exhausted).toBe(false);
  });
});

describe("finished streams", () => {
  test("are forgotten after their time", () => {
    const { log, clock, budget } = startLog();
    const stream = log.open("call");
    stream.write("a");
    stream.finish();
    clock.advance(DEFAULT_LIMITS.replayMs - 1);
    expect(log.find("c_t1_0")).toBeDefined();
    clock.advance(1);
    expect(log.find("c_t1_0")).toBeUndefined();
    expect([budget.size, clock.pending]).toEqual([0, 0]);
  });

  test("make room for newer ones, the oldest first", () => {
    const { log, budget } = startLog({ maxReplayTotalBytes: 5 });
    for (const text of ["aa", "bb", "cc"]) {
      const stream = log.open("call");
      stream.write(text);
      stream.finish();
    }
    expect(budget.size).toBe(4);
    expect(["c_t1_0", "c_t2_0", "c_t3_0"].map((id) => log.find(id) !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });

  test("leave with their session", () => {
    const { log, budget } = startLog();
    const stream = log.open("call");
    stream.write("aa");
    stream.finish();
    log.close();
    expect(budget.size).toBe(0);
    expect(log.find("c_t1_0")).toBeUndefined();
  });
});
