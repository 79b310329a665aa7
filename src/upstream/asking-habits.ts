import { asString, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt, memberOf } from "../jsonrpc/raw-object.js";
import type { LegacyCall } from "./legacy-call.js";

/** Tools, prompts and resources of which something is remembered. */
const MAX_REMEMBERED = 10_000;

/** What an upstream's tools, prompts and resources have been seen to do. */
export interface AskingHabits {
  /** Has every call of this kind so far ended without a question? False for what was never called. */
  isQuiet(call: LegacyCall): boolean;
  /** The call was asked something, or may have been. */
  mayAsk(call: LegacyCall): void;
  /** The server has answered the call with a result. */
  answered(call: LegacyCall, result: JsonText): void;
}

/** What is called, by whatever name its method gives it. */
function subjectOf(call: LegacyCall): string {
  if (call.subject !== undefined) return call.subject;
  const name = asString(memberOf(call.spans, "name") ?? memberOf(call.spans, "uri"));
  call.subject = `${call.method} ${name ?? ""}`;
  return call.subject;
}

export function createAskingHabits(): AskingHabits {
  const quiet = new Map<string, boolean>();

  const learn = (call: LegacyCall, isQuiet: boolean): void => {
    if (quiet.size >= MAX_REMEMBERED) quiet.clear();
    quiet.set(subjectOf(call), isQuiet);
  };

  return {
    isQuiet: (call) => quiet.get(subjectOf(call)) === true,
    mayAsk: (call) => learn(call, false),
    answered(call, result) {
      if (call.dialogue !== undefined || quiet.has(subjectOf(call))) return;
      // What failed may have failed before it came to its questions.
      if (memberAt(result, "isError") !== "true") learn(call, true);
    },
  };
}
