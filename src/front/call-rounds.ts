import { BridgeError } from "../errors.js";
import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Notices } from "../model/notice.js";
import type { Answers, Complete, Failed, Operation } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Gathered, InputRounds } from "./input-rounds.js";
import { createBackoff, pause } from "./pause.js";

export interface CallRoundsDeps {
  readonly service: Service;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly inputs: InputRounds;
  readonly notices: Notices;
  readonly signal: AbortSignal;
}

/** The end of a whole call. */
export type CallEnd = Complete | Failed;

/**
 * Relays a call round by round, with the answers of the client between them, until it is complete
 * (2026-07-28/basic/patterns/mrtr, "Basic Workflow"). `next` gives each round the caller and log level
 * of its time. Never rejects.
 */
export async function relayRounds(next: () => Operation, deps: CallRoundsDeps): Promise<CallEnd> {
  const { service, notices, signal } = deps;
  const rounds = createRounds(deps);
  let answers: Answers | undefined;
  for (;;) {
    const operation = next();
    const outcome = await service.relay({ ...operation, answers }, notices, signal);
    if (signal.aborted) return cancelled();
    if (outcome.type !== "input-required") return outcome;
    const gathered = await rounds.answer(outcome.requests);
    if (signal.aborted || gathered.type === "withdrawn") return cancelled();
    if (gathered.type === "failed") return withoutInput(operation, gathered.reason);
    answers = { continuation: outcome.continuation, responses: gathered.responses };
  }
}

/** Gathers the answers of each round; counts those that asked somebody, paces and ends the others. */
function createRounds(deps: CallRoundsDeps) {
  const { clock, limits, inputs, signal } = deps;
  const pauses = createPauses(deps);
  let asked = 0;
  return {
    async answer(requests: JsonText | undefined): Promise<Gathered> {
      if (requests !== undefined && asked >= limits.maxRounds) {
        const reason = `the server asked for input in more than ${limits.maxRounds} rounds`;
        return { type: "failed", reason };
      }
      const gathered = await inputs.gather(requests);
      if (gathered.type !== "responses") return gathered;
      if (gathered.asked) {
        asked += 1;
        pauses.reset();
        return gathered;
      }
      const ms = pauses.next(requests !== undefined);
      if (ms === undefined) return { type: "failed", reason: "the server came to no end" };
      await pause(clock, ms, signal);
      return gathered;
    },
  };
}

/** Paces rounds in which nobody was asked, and ends them some time. */
function createPauses({ clock, limits }: CallRoundsDeps) {
  const states = createBackoff(limits.stateOnlyPauseMs, limits.stateOnlyPauseMaxMs);
  const visits = createBackoff(limits.urlPollPauseMs, limits.urlPollPauseMaxMs);
  let since = clock.now();
  return {
    next: (visiting: boolean): number | undefined =>
      clock.now() - since > limits.requestCeilingMs
        ? undefined
        : (visiting ? visits : states).next(),
    reset: (): void => {
      states.reset();
      visits.reset();
      since = clock.now();
    },
  };
}

export function cancelled(): Failed {
  return toFailed(new BridgeError("cancelled", "the client cancelled the call"));
}

/**
 * A call that cannot go on for want of input, in the form its family uses: a tool reports an error its
 * caller can read, other requests fail.
 */
export function withoutInput({ method, params }: Operation, reason: string): CallEnd {
  const subject = asString(memberAt(params, method === "resources/read" ? "uri" : "name"));
  const text = `Input required by ${subject ?? method} was not provided: ${reason}`;
  if (method !== "tools/call") return toFailed(new BridgeError("not-bridgeable", text));
  return {
    type: "complete",
    result: `{"content":[{"type":"text","text":${quote(text)}}],"isError":true}`,
  };
}
