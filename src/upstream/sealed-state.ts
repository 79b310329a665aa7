import { canonicalText } from "../jsonrpc/canonical.js";
import { createDraft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { asString, parseJson, quote, toJsonText } from "../jsonrpc/json-text.js";
import type { Principal } from "../model/caller.js";
import type { Continuation } from "../model/operation.js";
import type { Clock } from "../ports/clock.js";
import type { Sealer } from "../ports/sealer.js";

const VERSION = 1;
/** The key may seal other things too: what is no state is none, however well sealed. */
const KIND = "request-state ";

/** The request a state was made for. */
export interface StateRequest {
  readonly principal: Principal;
  readonly method: string;
  readonly params: JsonText;
}

/** A place in a conversation: which call, and which of its rounds. */
export interface StatePlace {
  readonly callId: string;
  readonly round: number;
}

/**
 * Why a `requestState` is not good. `unknown` covers everything that this bridge did not give to this
 * principal, so that nobody learns from the answer whether it belongs to somebody else.
 */
export type StateProblem = "unknown" | "request-mismatch" | "expired" | "lost";

export type OpenedState =
  | ({ readonly type: "place" } & StatePlace)
  | { readonly type: "problem"; readonly problem: StateProblem; readonly foreign: boolean };

export interface SealedStates {
  /** `until`: milliseconds since the epoch. */
  seal(place: StatePlace, request: StateRequest, until: number): Continuation;
  open(continuation: Continuation, request: StateRequest): OpenedState;
}

export interface SealedStatesOptions {
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Names this process among those that share the key. */
  readonly instance: string;
}

function problem(kind: StateProblem, foreign = false): OpenedState {
  return { type: "problem", problem: kind, foreign };
}

interface StateFacts {
  readonly v: number;
  readonly call: string;
  readonly instance: string;
  readonly round: number;
  readonly principal: string;
  readonly method: string;
  readonly digest: string;
  readonly exp: number;
}

/**
 * `requestState` of parked calls: bound to principal, request and time, so that neither another user
 * nor another call can use it (2026-07-28/basic/patterns/mrtr, "Security").
 */
export function createSealedStates({ sealer, clock, instance }: SealedStatesOptions): SealedStates {
  /** Clients may write the same request in other characters; what differs in value is another one. */
  const digestOf = (params: JsonText): string => {
    const draft = createDraft(params);
    for (const key of ["_meta", "inputResponses", "requestState"]) draft.remove(key);
    return sealer.fingerprint(canonicalText(draft.text()));
  };
  const nameOf = (principal: Principal): string => sealer.fingerprint(principal);

  return {
    seal({ callId, round }, { principal, method, params }, until) {
      const facts: StateFacts = {
        v: VERSION,
        call: callId,
        instance,
        round,
        principal: nameOf(principal),
        method,
        digest: digestOf(params),
        exp: until,
      };
      return quote(sealer.seal(KIND + toJsonText(facts)));
    },
    open(continuation, { principal, method, params }) {
      const sealed = asString(continuation);
      const plain = sealed === undefined ? undefined : sealer.open(sealed);
      if (!plain?.startsWith(KIND)) return problem("unknown");
      const facts = parseJson(plain.slice(KIND.length)) as StateFacts;
      if (facts.v !== VERSION) return problem("unknown");
      if (facts.principal !== nameOf(principal)) return problem("unknown", true);
      if (facts.method !== method || facts.digest !== digestOf(params)) {
        return problem("request-mismatch");
      }
      if (facts.exp <= clock.now()) return problem("expired");
      if (facts.instance !== instance) return problem("lost");
      return { type: "place", callId: facts.call, round: facts.round };
    },
  };
}
