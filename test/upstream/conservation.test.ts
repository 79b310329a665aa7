import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import type { SeenRequest } from "./scripted-legacy-server.js";
import { createRig, type Rig, type RigOptions, type Round } from "./upstream-rig.js";

type Step =
  | { readonly do: "call"; readonly who: number }
  | {
      readonly do: "ask" | "reply" | "fail" | "gone" | "retry" | "leave" | "twice";
      readonly nth: number;
    }
  | { readonly do: "crash"; readonly nth: number }
  | { readonly do: "wait"; readonly ms: number };

const nth = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("call" as const), who: fc.nat({ max: 2 }) }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "ask",
        "ask",
        "reply",
        "fail",
        "gone",
        "retry",
        "retry",
        "leave",
        "twice",
      ),
      nth,
    }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), nth }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(10, 60, 2_500, 700_000),
    }),
  },
);

/** A client's call over all its rounds. */
interface ClientCall {
  readonly name: string;
  readonly who: string;
  readonly rounds: Round[];
}

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from.length === 0 ? undefined : from[index % from.length];
}

interface Asked {
  readonly owner: string;
  readonly id: string;
  readonly request: SeenRequest;
}

/** Clients, a server, and what each has seen of the other. */
function createWorld(options: RigOptions) {
  /** Calls at the server, by name. */
  const open = new Map<string, SeenRequest>();
  const runs = new Map<string, number>();
  const refused = new Set<string>();
  const asked: Asked[] = [];
  const calls: ClientCall[] = [];
  const rig: Rig = createRig({
    ...options,
    limits: { requestTimeoutMs: 600_000, ...options.limits },
    handle(request) {
      if (request.method !== "tools/call") return;
      const { name } = request.params;
      open.set(name, request);
      runs.set(name, (runs.get(name) ?? 0) + 1);
    },
  });

  const answersOf = ({ who, rounds }: ClientCall): Record<string, unknown> => {
    const answer = { action: "accept", content: { by: who } };
    return Object.fromEntries((rounds.at(-1)?.keys() ?? []).map((key) => [key, answer]));
  };

  const begin = (who: number): void => {
    const call: ClientCall = { name: `call ${calls.length}`, who: `principal ${who}`, rounds: [] };
    calls.push(call);
    call.rounds.push(rig.call({ params: { name: call.name }, principal: call.who }));
  };

  const retry = async (index: number, twice: boolean): Promise<void> => {
    const parked = calls.filter(({ rounds }) => rounds.at(-1)?.outcome?.type === "input-required");
    const call = pick(parked, index);
    const state = call?.rounds.at(-1)?.state();
    if (call === undefined || state === undefined) return;
    const again = { params: { name: call.name }, principal: call.who, state };
    call.rounds.push(rig.call({ ...again, responses: answersOf(call) }));
    if (!twice) return;
    const twin = rig.call(again);
    await settle();
    expect(twin.outcome).toMatchObject({ type: "failed", cause: "refused" });
  };

  const serve = (act: string, index: number): void => {
    const request = pick([...open.values()], index);
    if (request === undefined) return;
    const { session } = request;
    const { name } = request.params;
    if (act === "ask") {
      const owner = calls.find((call) => call.name === name)?.who ?? "";
      const id = session.ask("elicitation/create", { message: name }, request);
      asked.push({ owner, id, request });
      return;
    }
    open.delete(name);
    if (act === "reply") session.reply(request, { content: [], for: name });
    if (act === "fail") session.fail(request, -32000, name);
    if (act === "crash") session.crash();
    if (act === "gone") {
      refused.add(name);
      session.lose(request, { kind: "session-gone", detail: "404" });
    }
  };

  const checkCall = ({ name, rounds }: ClientCall): void => {
    for (const { outcome } of rounds) {
      // A result or an error of the server reaches the call it is for.
      if (outcome?.type === "complete") expect(JSON.parse(outcome.result).for).toBe(name);
      if (outcome?.type === "failed" && outcome.cause === "peer") {
        expect(JSON.parse(outcome.error.text).message).toBe(name);
      }
    }
    // No tool runs twice, but for calls the server refused to see.
    expect(runs.get(name) ?? 0).toBeLessThanOrEqual(refused.has(name) ? 2 : 1);
  };

  return {
    rig,
    calls,
    async take(step: Step): Promise<void> {
      if (step.do === "call") begin(step.who);
      else if (step.do === "wait") await rig.clock.pass(step.ms);
      else if (step.do === "retry" || step.do === "twice")
        await retry(step.nth, step.do === "twice");
      else if (step.do === "leave") pick(calls, step.nth)?.rounds.at(-1)?.leave();
      else serve(step.do, step.nth);
      await settle();
    },
    check(): void {
      for (const call of calls) checkCall(call);
      for (const { id, owner, request } of asked) {
        const answer = request.session.answerTo(id) as { content?: { by: string } } | undefined;
        // Nobody but the principal whose call caused a question ever answers it.
        if (answer?.content !== undefined) expect(answer.content.by).toBe(owner);
      }
      for (const session of rig.server.sessions) {
        const answers = session.log.filter((line) => line.startsWith("answer "));
        expect(new Set(answers).size).toBe(answers.length);
      }
    },
  };
}

/** Plays steps against a bridge and checks after each what must always hold. */
async function play(steps: readonly Step[], options: RigOptions): Promise<void> {
  const { rig, calls, take, check } = createWorld(options);
  for (const next of steps) {
    await take(next);
    check();
  }
  await rig.upstream.close();
  await settle();
  for (const { rounds } of calls) {
    for (const { outcome } of rounds) expect(outcome).toBeDefined();
  }
  expect(rig.upstream.stats()).toMatchObject({ calls: 0, parked: 0, heldQuestions: 0, waiting: 0 });
  expect(rig.clock.pending).toBe(0);
}

const RUNS = { numRuns: 100 };

describe("whatever clients and servers do", () => {
  it.each<[string, RigOptions]>([
    ["a stream for each call", { associates: true }],
    ["one pipe", {}],
    ["one pipe and one call at a time", { upstream: { attribution: "exclusive" } }],
    ["a pool of sessions", { upstream: { policy: "pool:2" } }],
    ["a session for each call", { upstream: { policy: "per-call" } }],
  ])("each request ends once, at its own caller, and nothing is left: %s", async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => play(steps, options)),
      RUNS,
    );
  });
});
