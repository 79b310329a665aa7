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
import {
  type MirroredParameter,
  parameterHeaderFault,
  parameterHeadersIn,
} from "../../wire/modern/parameter-headers.js";
import type { ModernFront, ModernTurn } from "../modern-front.js";
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
    const { sender, gone } = inbound;
    const reply = createResponse(deps, inbound.reply, gone);
    const caller = toCaller(request.envelope, sender);
    if (request.method === "tools/call") {
      callTool({ request, caller, reply, signal: gone }, inbound.request.headers);
    } else front.serve({ request, caller, reply, signal: gone });
  };

  const callTool = (turn: ModernTurn, headers: HeaderFields): void => {
    const { request, caller, reply } = turn;
    const name = asString(memberOf(request.params, "name")) ?? "";
    const call = (declared: readonly MirroredParameter[]): void => {
      const fault = toolFault(request, declared, headers);
      if (fault !== undefined) fail(turn, fault);
      else
        front.serve({
          request,
          caller,
          reply,
          signal: turn.signal,
          parameterHeaders: parameterHeadersIn(headers),
        });
    };
    const known = toolHeaders.declared(name, caller);
    if (known !== undefined) {
      call(known);
      return;
    }
    toolHeaders
      .learn(caller)
      .then(() => call(toolHeaders.declared(name, caller) ?? []))
      .catch((error: unknown) => fail(turn, toFailed(error)));
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
  declared: readonly MirroredParameter[],
  headers: HeaderFields,
): Failed | undefined {
  if (declared.length === 0) return undefined;
  if (isRepeated(request.params, "arguments")) {
    return headerFault("params.arguments is given twice");
  }
  return parameterHeaderFault(declared, memberOf(request.params, "arguments"), headers);
}

function fail({ request, reply }: ModernTurn, failed: Failed): void {
  reply.failed(errorText(request.id, failed.error.text), failed);
}

function refuse({ reply }: Inbound, { id }: RequestMessage, failed: Failed): void {
  sendError(reply, statusOf(failed), id, failed.error);
}
