import { BridgeError } from "../errors.js";
import { createDraft } from "../jsonrpc/draft.js";
import { METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import type { ErrorMessage, ResponseMessage } from "../jsonrpc/message.js";
import { memberOf, type RawObject, readObject } from "../jsonrpc/raw-object.js";
import { toFailed } from "../model/failure.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Failed, Operation, Outcome } from "../model/operation.js";
import { fillCacheHints } from "../translation/cache-hints.js";
import { stampResultType } from "../translation/result-type.js";
import { declaresTasks } from "../translation/tasks.js";
import { toWireError } from "./legacy-conversation.js";

/** What the answer of a modern server to one round means (2026-07-28/basic, "Results"). */
export function toOutcome(
  message: ResponseMessage | ErrorMessage,
  operation: Operation,
  name: string,
): Outcome {
  if (message.type === "error") return toPeerFailure(message);
  const { result } = message;
  const object = readObject(result);
  if (object === undefined) return invalid(name, "the result is no object");
  const type = memberOf(object, "resultType");
  // A result without a type counts as complete; it is given the type it should have had.
  if (type === undefined) return { type: "complete", result: typed(result, operation.method) };
  switch (asString(type)) {
    case "complete":
      return { type: "complete", result };
    case "input_required":
      return toInputRequired(result, object, operation, name);
    case "task": {
      const expected =
        operation.method === "tools/call" && declaresTasks(operation.caller.capabilities);
      return expected
        ? { type: "complete", result }
        : invalid(name, "the server made a task of a request that may not become one");
    }
    default:
      return invalid(name, "the result has an unknown resultType");
  }
}

function toPeerFailure({ error }: ErrorMessage): Failed {
  const wireError = toWireError(error);
  const cause = wireError.code === METHOD_NOT_FOUND ? "unknown-method" : "peer";
  return { type: "failed", error: wireError, cause };
}

function toInputRequired(
  result: JsonText,
  object: RawObject,
  { method }: Operation,
  name: string,
): Outcome {
  const requests = memberOf(object, "inputRequests");
  const continuation = memberOf(object, "requestState");
  if (!mayRequireInput(method)) return invalid(name, `${method} cannot require input`);
  if (requests === undefined && continuation === undefined) {
    return invalid(name, "input is required, but neither inputRequests nor requestState is given");
  }
  if (requests !== undefined && !isObjectText(requests)) {
    return invalid(name, "inputRequests must be an object");
  }
  if (continuation !== undefined && asString(continuation) === undefined) {
    return invalid(name, "requestState must be a string");
  }
  return { type: "input-required", requests, continuation, result };
}

function invalid(name: string, reason: string): Failed {
  return toFailed(new BridgeError("upstream-invalid", `${name} sent an invalid result: ${reason}`));
}

function typed(result: JsonText, method: string): JsonText {
  const draft = createDraft(result);
  stampResultType(draft);
  if (draft.get("ttlMs") === undefined) fillCacheHints(method, draft);
  return draft.text();
}
