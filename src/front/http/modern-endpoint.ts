import { INVALID_REQUEST } from "../../jsonrpc/error-codes.js";
import { asString } from "../../jsonrpc/json-text.js";
import { errorText, type RequestMessage } from "../../jsonrpc/message.js";
import { memberOf } from "../../jsonrpc/raw-object.js";
import { toFailed } from "../../model/failure.js";
import type { Failed } from "../../model/operation.js";
import { wireError } from "../../model/wire-error.js";
import type { MetaSpans } from "../../wire/modern/envelope.js";
import {
  type HeaderFields,
  headerFault,
  isRepeated,
  mirrorFault,
  revisionHeaderFault,
} from "../../wire/modern/headers.js";
import { parameterHeaderFault, parameterHeadersIn } from "../../wire/modern/parameter-headers.js";
import type { ModernFront } from "../modern-front.js";
import { type ModernRequest, offerFault, readModernRequest, toCaller } from "../modern-request.js";
import type { ToolHeaders } from "../tool-headers.js";
import { refuseHttp, sendError } from "./error-reply.js";
import type { Inbound } from "./inbound.js";
import { createResponse, type ResponseDeps } from "./sse-reply.js";
import { statusOf } from "./status.js";

export interface ModernEndpointDeps extends ResponseDeps {
  readonly front: ModernFront;
  readonly toolHeaders: ToolHeaders;
}

/** The modern era on HTTP: POST only, each message for itself. */
export interface ModernEndpoint {
  /** `spans` are those of the message's params, where it is a request. */
  post(inbound: Inbound, spans: MetaSpans): void;
}

export function createModernEndpoint(deps: ModernEndpointDeps): ModernEndpoint {
  const { front, toolHeaders } = deps;

  const serve = (inbound: Inbound, request: ModernRequest): void => {
    const { sender, reply, gone } = inbound;
    const response = createResponse(deps, reply, gone);
    const turn = { request, sender, reply: response, signal: gone };
    if (request.method !== "tools/call") {
      front.serve(turn);
      return;
    }
    const parameterHeaders = parameterHeadersIn(inbound.request.headers);
    const callTool = (): void => {
      const fault = toolFault(request, inbound, toolHeaders);
      if (fault === undefined) front.serve({ ...turn, parameterHeaders });
      else response.failed(errorText(request.id, fault.error.text), fault);
    };
    const caller = toCaller(request.envelope, sender);
    if (toolHeaders.declared(toolName(request), caller) !== undefined) callTool();
    else {
      const failed = (error: unknown): void => {
        const failure = toFailed(error);
        response.failed(errorText(request.id, failure.error.text), failure);
      };
      toolHeaders.learn(caller).then(callTool).catch(failed);
    }
  };

  const postRequest = (inbound: Inbound, message: RequestMessage, spans: MetaSpans): void => {
    const request = readModernRequest(message, spans);
    if ("type" in request) {
      refuse(inbound, message, request);
      return;
    }
    const fault = requestFault(request, inbound.request.headers, front);
    if (fault === undefined) serve(inbound, request);
    else refuse(inbound, message, fault);
  };

  return {
    post: (inbound, spans) => {
      const { message, reply, sender } = inbound;
      switch (message?.type) {
        case "request":
          postRequest(inbound, message, spans);
          return;
        case "notification":
          // On HTTP a cancellation is a closed stream: ids of several clients would collide
          // (2026-07-28/basic/transports/streamable-http, "Cancellation").
          if (message.method !== "notifications/cancelled") front.notify(message, sender);
          reply.send(202, {}, "");
          return;
        case "response":
        case "error": {
          const error = wireError(INVALID_REQUEST, "this revision has no responses from clients");
          sendError(reply, 400, message.id, error);
          return;
        }
        default:
          refuseHttp(reply, 400, "the body must be a single request or notification");
      }
    },
  };
}

function requestFault(
  request: ModernRequest,
  headers: HeaderFields,
  front: ModernFront,
): Failed | undefined {
  // The revision comes first: what else must agree depends on it.
  return (
    revisionHeaderFault(headers, request.envelope.revision) ??
    offerFault(request, front.offer) ??
    mirrorFault(headers, request)
  );
}

function toolFault(
  request: ModernRequest,
  inbound: Inbound,
  toolHeaders: ToolHeaders,
): Failed | undefined {
  const caller = toCaller(request.envelope, inbound.sender);
  const declared = toolHeaders.declared(toolName(request), caller);
  if (declared === undefined || declared.length === 0) return undefined;
  if (isRepeated(request.params, "arguments")) {
    return headerFault("params.arguments is given twice");
  }
  const callArguments = memberOf(request.params, "arguments");
  return parameterHeaderFault(declared, callArguments, inbound.request.headers);
}

function toolName(request: ModernRequest): string {
  return asString(memberOf(request.params, "name")) ?? "";
}

function refuse({ reply }: Inbound, { id }: RequestMessage, failed: Failed): void {
  sendError(reply, statusOf(failed), id, failed.error);
}
