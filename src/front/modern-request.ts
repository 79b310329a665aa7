import { createDraft } from "../jsonrpc/draft.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import type { RequestId, RequestMessage } from "../jsonrpc/message.js";
import { memberOf, type RawObject } from "../jsonrpc/raw-object.js";
import type { Caller, Principal } from "../model/caller.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Answers, Failed, Operation } from "../model/operation.js";
import { wireError } from "../model/wire-error.js";
import { requestMembership } from "../wire/classify.js";
import {
  type Envelope,
  type MetaSpans,
  readEnvelope,
  refused,
  revisionFault,
} from "../wire/modern/envelope.js";
import { extensionFault } from "../wire/modern/listen.js";
import { MODERN_REQUESTS } from "../wire/modern/methods.js";
import type { Offer } from "./offer.js";

/** What the transport knows of whoever sent a message. */
export interface Sender {
  readonly principal: Principal;
  readonly anonymous: boolean;
  /** Which of the sender's conversations this is, where a header says so; the envelope wins. */
  readonly affinity: string | undefined;
  readonly authorization: string | undefined;
}

/** A request whose envelope is legal; the method may still be unknown. */
export interface ModernRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: RawObject;
  readonly envelope: Envelope;
}

/** Reads a request of the modern era, or says what is wrong with its envelope. */
export function readModernRequest(
  message: RequestMessage,
  spans: MetaSpans,
): ModernRequest | Failed {
  const envelope = readEnvelope(spans.meta);
  if ("type" in envelope) return envelope;
  const params = spans.params ?? { text: "{}", members: [] };
  return { id: message.id, method: message.method, params, envelope };
}

/** Refuses a revision, a method or an extension that this front does not serve. */
export function offerFault(request: ModernRequest, offer: Offer): Failed | undefined {
  const revision = revisionFault(request.envelope.revision, offer.revisions);
  if (revision !== undefined) return revision;
  const traits = MODERN_REQUESTS.get(request.method);
  if (traits === undefined) {
    const forwarded = offer.forwardUnknown && requestMembership(request.method) === "unknown";
    return forwarded ? undefined : methodFault(request.method);
  }
  return traits.extension === undefined
    ? undefined
    : extensionFault(request.envelope, traits.extension);
}

function methodFault(method: string): Failed {
  const error = wireError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 128)}`);
  return { type: "failed", error, cause: "unknown-method" };
}

export function toCaller(envelope: Envelope, sender: Sender): Caller {
  return {
    principal: sender.principal,
    anonymous: sender.anonymous,
    identity: envelope.identity,
    capabilities: envelope.capabilities,
    affinity: envelope.affinity ?? sender.affinity,
    authorization: sender.authorization,
  };
}

/**
 * The request as one round of an operation. Answers are taken out of the params; where the method
 * cannot ask for input they are dropped (2026-07-28/basic/patterns/mrtr, "Supported Requests").
 */
export function toOperation(
  request: ModernRequest,
  caller: Caller,
  parameterHeaders: Readonly<Record<string, string>> | undefined,
): Operation | Failed {
  const { method, params, envelope } = request;
  const answers = readAnswers(params);
  if (answers !== undefined && mayRequireInput(method)) {
    const fault = answersFault(answers);
    if (fault !== undefined) return fault;
  }
  const operation: Operation = {
    method,
    params: answers === undefined ? params.text : withoutAnswers(params.text),
    spans: params,
    caller,
    logLevel: envelope.logLevel,
    wantsProgress: envelope.progressToken !== undefined,
    answers: mayRequireInput(method) ? answers : undefined,
  };
  return parameterHeaders === undefined ? operation : { ...operation, parameterHeaders };
}

const STATE = "requestState";
const RESPONSES = "inputResponses";

function readAnswers(params: RawObject): Answers | undefined {
  let found = false;
  for (const { key } of params.members) if (key === STATE || key === RESPONSES) found = true;
  if (!found) return undefined;
  return { continuation: memberOf(params, STATE), responses: memberOf(params, RESPONSES) };
}

function answersFault({ continuation, responses }: Answers): Failed | undefined {
  if (continuation !== undefined && asString(continuation) === undefined) {
    return refused(INVALID_PARAMS, "params.requestState must be a string");
  }
  if (responses !== undefined && !isObjectText(responses)) {
    return refused(INVALID_PARAMS, "params.inputResponses must be an object");
  }
  return undefined;
}

function withoutAnswers(params: JsonText): JsonText {
  const draft = createDraft(params);
  draft.remove(STATE);
  draft.remove(RESPONSES);
  return draft.text();
}
