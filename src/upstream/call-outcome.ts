import { BridgeError } from "../errors.js";
import { METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { isObjectText } from "../jsonrpc/json-text.js";
import type { ErrorMessage, ResponseMessage } from "../jsonrpc/message.js";
import { toFailed } from "../model/failure.js";
import type { Failed, Outcome } from "../model/operation.js";
import type { WireError } from "../model/wire-error.js";
import { liftError } from "../translation/error-codes.js";
import { liftResult } from "../translation/lift.js";
import type { LegacyCall } from "./legacy-call.js";
import { toWireError } from "./legacy-conversation.js";
import { isGated } from "./method-gates.js";

function failedWith(call: LegacyCall, error: WireError): Failed {
  const capabilities = call.lease?.session.advertisement.capabilities;
  const unknown = error.code === METHOD_NOT_FOUND && !isGated(call.method, capabilities);
  return {
    type: "failed",
    error: liftError(call.method, error, call.params),
    cause: unknown ? "unknown-method" : "peer",
  };
}

/** The server's answer to a call that still holds its session; `name` is the upstream's. */
export function outcomeOf(
  call: LegacyCall,
  message: ResponseMessage | ErrorMessage,
  name: string,
): Outcome {
  if (message.type === "error") return failedWith(call, toWireError(message.error));
  if (!isObjectText(message.result)) {
    const text = `${name} answered with a result that is no object`;
    return toFailed(new BridgeError("upstream-invalid", text));
  }
  const serverInfo = call.lease?.session.advertisement.serverInfo;
  const result = liftResult(call.method, message.result, { serverInfo, notices: call.remarks });
  return { type: "complete", result };
}
