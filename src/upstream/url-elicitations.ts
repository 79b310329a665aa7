import { BridgeError } from "../errors.js";
import { INTERNAL_ERROR } from "../jsonrpc/error-codes.js";
import { asString, isArrayText, isObjectText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { toFailed } from "../model/failure.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import type { Outcome } from "../model/operation.js";
import { LEGACY_URL_ELICITATION_REQUIRED, type WireError, wireError } from "../model/wire-error.js";
import type { Clock } from "../ports/clock.js";
import { liftReverseRequest } from "../translation/input-requests.js";
import { liftResult } from "../translation/lift.js";
import { covers } from "../translation/lower.js";
import type { Calls } from "./calls.js";
import { actionOf } from "./dialogue.js";
import type { LegacyCall, OpenQuestion } from "./legacy-call.js";
import type { LegacySession } from "./legacy-session.js";
import { missingCapability } from "./missing-capability.js";
import type { ParkedRounds } from "./parked-rounds.js";

/** Calls that a server refuses until the user has visited URLs (2025-11-25/client/elicitation). */
export interface UrlElicitations {
  /** True when the error is such a refusal, and the client is asked or told what it lacks. */
  refused(call: LegacyCall, error: WireError): boolean;
  /** The client answered one of the questions that came of it. */
  answered(call: LegacyCall, question: OpenQuestion, answer: JsonText): void;
  /** Does the call wait for URLs? Then it is made again, after their completion or a while. */
  proceed(call: LegacyCall): boolean;
  /** The server says that an interaction is over. */
  completed(session: LegacySession, elicitationId: string): void;
}

export interface UrlElicitationsOptions {
  readonly calls: Calls;
  readonly rounds: ParkedRounds;
  readonly clock: Clock;
  readonly limits: Limits;
}

/** The elicitations an error -32042 names: those of URL mode. */
function elicitationsOf(error: WireError): readonly JsonText[] {
  const list = memberAt(error.text, "data", "elicitations");
  if (!isArrayText(list)) return [];
  return elementsOf(list).filter(
    (entry) => isObjectText(entry) && asString(memberAt(entry, "url")) !== undefined,
  );
}

function declined(call: LegacyCall, action: string | undefined): Outcome {
  const text = `the user did not open the URL this request needs (${action ?? "no answer"})`;
  if (call.method !== "tools/call") {
    const error = wireError(INTERNAL_ERROR, text, { reason: "declined" });
    return { type: "failed", error, cause: "peer" };
  }
  const result = `{"content":[{"type":"text","text":${quote(text)}}],"isError":true}`;
  const serverInfo = call.lease?.session.advertisement.serverInfo;
  return { type: "complete", result: liftResult(call.method, result, { serverInfo }) };
}

export function createUrlElicitations(options: UrlElicitationsOptions): UrlElicitations {
  const { calls, rounds, clock, limits } = options;

  return {
    refused(call, error) {
      if (error.code !== LEGACY_URL_ELICITATION_REQUIRED) return false;
      const elicitations = elicitationsOf(error);
      const [first] = elicitations;
      if (first === undefined || call.attachment === undefined) return false;
      if (!mayRequireInput(call.method)) return false;
      const method = "elicitation/create";
      if (!covers(call.caller.capabilities, method, '{"mode":"url"}')) {
        calls.finish(call, missingCapability(method, '{"mode":"url"}'));
        return true;
      }
      calls.detach(call);
      rounds.answered(call);
      const questions = elicitations.map((params) => ({
        method,
        params: liftReverseRequest(method, params).params,
      })) satisfies Parameters<ParkedRounds["pose"]>[1];
      if (!rounds.pose(call, questions) || call.dialogue === undefined) {
        const text = "too many calls wait for answers of the client";
        calls.finish(call, toFailed(new BridgeError("overloaded", text)));
        return true;
      }
      const ids = elicitations.map((entry) => asString(memberAt(entry, "elicitationId")));
      call.dialogue.urls = {
        open: new Set(ids.filter((id) => id !== undefined)),
        completed: () => {},
      };
      return true;
    },

    answered(call, question, answer) {
      if (question.reverse !== undefined) return;
      const action = actionOf(answer);
      if (action !== "accept") calls.finish(call, declined(call, action));
    },

    proceed(call) {
      const { dialogue } = call;
      const urls = dialogue?.urls;
      if (dialogue === undefined || urls === undefined) return false;
      const again = (): void => {
        dialogue.stop();
        dialogue.urls = undefined;
        calls.restart(call, "here");
      };
      if (urls.open.size === 0) again();
      else {
        urls.completed = again;
        dialogue.stop = clock.after(limits.urlWaitMs, again);
      }
      return true;
    },

    completed(session, elicitationId) {
      for (const call of calls.all) {
        const urls = call.dialogue?.urls;
        if (urls === undefined || call.lease?.session !== session) continue;
        if (urls.open.delete(elicitationId) && urls.open.size === 0) urls.completed();
      }
    },
  };
}
