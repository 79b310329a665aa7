import { describe, expect, it } from "vitest";
import { createDeparture } from "../../adapters/http/departure.js";
import { withRealSignals } from "../../src/bridge/interceptors.js";
import { LOCAL_PRINCIPAL } from "../../src/model/caller.js";
import type { Interest } from "../../src/model/notice.js";
import type { Operation, Outcome } from "../../src/model/operation.js";
import type { Service } from "../../src/model/service.js";

const CALLER = {
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
  identity: undefined,
  capabilities: "{}",
  affinity: undefined,
  authorization: undefined,
};
const CALL: Operation = {
  method: "tools/call",
  params: "{}",
  caller: CALLER,
  logLevel: undefined,
  wantsProgress: false,
  answers: undefined,
};
const INTEREST: Interest = {
  toolsListChanged: true,
  promptsListChanged: false,
  resourcesListChanged: false,
  resourceSubscriptions: [],
  text: "{}",
};

/** A service that keeps the signals it got, and answers when told. */
function keepSignals() {
  const signals: AbortSignal[] = [];
  let answer: (outcome: Outcome) => void = () => undefined;
  const service: Service = {
    describe: (_caller, signal) => {
      signals.push(signal);
      return Promise.reject(new Error("not asked"));
    },
    relay: (_operation, _notices, signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    watch: async (_interest, _caller, _notices, signal) => {
      signals.push(signal);
      return { honoured: "{}", ended: Promise.resolve() };
    },
    notify: () => undefined,
    close: async () => undefined,
  };
  return { signals, service: withRealSignals(service), answer: () => answer(COMPLETE) };
}

const COMPLETE: Outcome = { type: "complete", result: "{}" };

describe("interceptors of embedders", () => {
  it("get real signals, which abort with the client's", async () => {
    const { signals, service } = keepSignals();
    const { departure, depart } = createDeparture();
    void service.relay(CALL, () => undefined, departure as AbortSignal);
    await service.watch(INTEREST, CALLER, () => undefined, departure as AbortSignal);
    await service.describe(CALLER, departure as AbortSignal).catch(() => undefined);
    expect(signals.map((signal) => signal instanceof AbortSignal)).toEqual([true, true, true]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
    depart();
    // The description was over before.
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  });

  it("get an aborted signal from a client that has gone already", async () => {
    const { signals, service } = keepSignals();
    void service.relay(CALL, () => undefined, AbortSignal.abort());
    expect(signals[0]?.aborted).toBe(true);
  });

  it("leave nothing on a signal that outlives their request", async () => {
    const { service, answer } = keepSignals();
    let listening = 0;
    const counting = {
      aborted: false,
      addEventListener() {
        listening += 1;
      },
      removeEventListener() {
        listening -= 1;
      },
    };
    const pending = service.relay(CALL, () => undefined, counting as unknown as AbortSignal);
    expect(listening).toBe(1);
    answer();
    expect([await pending, listening]).toEqual([COMPLETE, 0]);
  });
});
