import { createDraft } from "../jsonrpc/draft.js";
import { asString, isArrayText, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt, memberOf, readObject } from "../jsonrpc/raw-object.js";
import type { InputMethod } from "../model/input-request.js";
import { META_INPUT_KEY, META_RELATED_TASK } from "../model/meta-keys.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "input-requests",
  feature: "Reverse requests and input requests (MRTR)",
  modernClient: {
    fate: "translated",
    how: "A reverse request in the middle of a call ends the round with `input_required`; the call stays open upstream until the client's retry brings the answers. `requestState` is sealed and good for one retry by the same principal with the same request.",
  },
  legacyClient: {
    fate: "translated",
    how: "Each input request becomes a reverse request on the stream of the call; the answers go into a retry with the server's own `requestState`.",
  },
  loss: "Questions outside a call cannot be asked; a call that waits for answers does not survive a restart of the bridge (-32602, reason `lost`).",
  spec: ["2026-07-28/basic/patterns/mrtr", "2025-11-25/client/elicitation"],
  about: ["input_required", "inputRequests", "inputResponses", "requestState", "MRTR"],
};

export interface LiftedReverseRequest {
  readonly params: JsonText | undefined;
  /** The key the server would like to have. */
  readonly key: string | undefined;
}

/** The params of a legacy reverse request as an input request carries them. */
export function liftReverseRequest(
  method: InputMethod,
  params: JsonText | undefined,
): LiftedReverseRequest {
  const key = asString(memberAt(params, "_meta", META_INPUT_KEY));
  if (params === undefined) return { params: method === "roots/list" ? "{}" : undefined, key };
  const draft = createDraft(params);
  draft.remove("task");
  if (method === "elicitation/create") draft.remove("elicitationId");
  const meta = draft.object("_meta");
  if (meta !== undefined) {
    for (const name of [META_INPUT_KEY, META_RELATED_TASK, "progressToken"]) meta.remove(name);
    if (meta.keys().length === 0) draft.remove("_meta");
  }
  return { params: draft.text(), key };
}

const ACTIONS: readonly (string | undefined)[] = ["accept", "decline", "cancel"];

function elicitationProblem(answer: JsonText): string | undefined {
  const object = readObject(answer);
  if (!ACTIONS.includes(asString(memberOf(object, "action")))) {
    return "action must be accept, decline or cancel";
  }
  const content = memberOf(object, "content");
  return content === undefined || isObjectText(content) ? undefined : "content must be an object";
}

function samplingProblem(answer: JsonText): string | undefined {
  const object = readObject(answer);
  const role = asString(memberOf(object, "role"));
  if (role !== "assistant" && role !== "user") return "role must be assistant or user";
  if (asString(memberOf(object, "model")) === undefined) return "model must be a string";
  const content = memberOf(object, "content");
  return isObjectText(content) || isArrayText(content)
    ? undefined
    : "content must be a block or a list of blocks";
}

/** What is wrong with the shape of a client's answer; undefined for a legal one. */
export function inputResponseProblem(method: InputMethod, answer: JsonText): string | undefined {
  if (!isObjectText(answer)) return "the answer must be an object";
  switch (method) {
    case "elicitation/create":
      return elicitationProblem(answer);
    case "sampling/createMessage":
      return samplingProblem(answer);
    case "roots/list":
      return isArrayText(memberAt(answer, "roots")) ? undefined : "roots must be a list";
  }
}
