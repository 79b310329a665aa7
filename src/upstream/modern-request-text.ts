import { createDraft, type Draft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { callText } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import type { LogLevel } from "../model/log-level.js";
import { ENVELOPE_KEYS } from "../model/meta-keys.js";
import type { Operation } from "../model/operation.js";
import { envelopeMembers } from "../wire/modern/envelope.js";

/** What a request says of its sender, besides who that is. */
export interface RequestMarks {
  readonly logLevel: LogLevel | undefined;
  /** The token of this hop; undefined when no progress is wanted. */
  readonly progressToken: number | undefined;
}

/**
 * Writes the envelope into the `_meta` of a request's params (2026-07-28/basic, "_meta"). What stands
 * there already and is right stays where and as it is; what the caller did not say goes.
 */
function writeEnvelope(params: Draft, caller: Caller, marks: RequestMarks): void {
  const meta = params.ensureObject("_meta");
  const { identity, capabilities } = caller;
  const members = envelopeMembers({ identity, capabilities, logLevel: marks.logLevel });
  const said = new Set(members.map(([key]) => key));
  for (const key of ENVELOPE_KEYS) if (!said.has(key)) meta.remove(key);
  for (const [key, value] of members) meta.set(key, value);
  if (marks.progressToken === undefined) meta.remove("progressToken");
  else meta.set("progressToken", `${marks.progressToken}`);
}

/** One round of an operation as a modern request; an id of its own for each. */
export function operationText(operation: Operation, id: number): JsonText {
  const { method, params, caller, logLevel, wantsProgress, answers } = operation;
  const draft = createDraft(params);
  if (answers?.responses !== undefined) draft.set("inputResponses", answers.responses);
  if (answers?.continuation !== undefined) draft.set("requestState", answers.continuation);
  writeEnvelope(draft, caller, { logLevel, progressToken: wantsProgress ? id : undefined });
  return callText(`${id}`, method, draft.text());
}

/** A `subscriptions/listen` with a filter. */
export function listenText(filter: JsonText, caller: Caller, id: number): JsonText {
  const draft = createDraft(`{"notifications":${filter}}`);
  writeEnvelope(draft, caller, { logLevel: undefined, progressToken: undefined });
  return callText(`${id}`, "subscriptions/listen", draft.text());
}
