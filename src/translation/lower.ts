import { createDraft } from "../jsonrpc/draft.js";
import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import type { RawObject } from "../jsonrpc/raw-object.js";
import type { LegacyRevision } from "../model/era.js";
import type { InputMethod } from "../model/input-request.js";
import { coversElicitation, elicitationCapability } from "./elicitation.js";
import { dropEmptyMeta, stripEnvelope } from "./envelope.js";
import { remintToken } from "./progress.js";
import { coversRoots } from "./roots.js";
import { coversSampling, lowerSamplingAnswer, samplingCapability } from "./sampling.js";

/**
 * A modern request's params as a legacy server takes them: without the envelope, with this hop's
 * progress token or none.
 */
export function lowerRequest(
  method: string,
  params: JsonText | RawObject,
  token: number | undefined,
): JsonText {
  const draft = createDraft(params);
  stripEnvelope(draft);
  remintToken(draft, token);
  dropEmptyMeta(draft);
  // Legacy vocabulary that a modern client cannot mean: it would turn the call into a task.
  if (method === "tools/call") draft.remove("task");
  return draft.text();
}

/**
 * A client's answer as the result of a reverse request; undefined when the server's revision cannot
 * express it. The answer must have passed `inputResponseProblem`.
 */
export function lowerInputResponse(
  method: InputMethod,
  answer: JsonText,
  revision: LegacyRevision,
): JsonText | undefined {
  return method === "sampling/createMessage" ? lowerSamplingAnswer(answer, revision) : answer;
}

/** Did the client declare what this reverse request needs? */
export function covers(
  capabilities: JsonText,
  method: InputMethod,
  params: JsonText | undefined,
): boolean {
  if (!isObjectText(capabilities)) return false;
  switch (method) {
    case "elicitation/create":
      return coversElicitation(capabilities, params);
    case "sampling/createMessage":
      return coversSampling(capabilities, params);
    case "roots/list":
      return coversRoots(capabilities);
  }
}

/** The `requiredCapabilities` object of error -32021 for such a reverse request. */
export function requiredCapability(method: InputMethod, params: JsonText | undefined): JsonText {
  switch (method) {
    case "elicitation/create":
      return elicitationCapability(params);
    case "sampling/createMessage":
      return samplingCapability(params);
    case "roots/list":
      return '{"roots":{}}';
  }
}
