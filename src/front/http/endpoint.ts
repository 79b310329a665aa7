import { PARSE_ERROR } from "../../jsonrpc/error-codes.js";
import { asString } from "../../jsonrpc/json-text.js";
import { type ParsedText, parseMessage } from "../../jsonrpc/message.js";
import { memberAt } from "../../jsonrpc/raw-object.js";
import type { Limits } from "../../model/limits.js";
import type { Service } from "../../model/service.js";
import { wireError } from "../../model/wire-error.js";
import type { Authentication, Authenticator } from "../../ports/authenticator.js";
import type { Clock } from "../../ports/clock.js";
import type { HttpHandler, HttpReply, HttpRequest } from "../../ports/http.js";
import type { Journal } from "../../ports/journal.js";
import { eraOf } from "../../wire/classify.js";
import {
  hasEnvelope,
  MAX_AFFINITY_CHARACTERS,
  type MetaSpans,
  readMeta,
  unsupportedRevision,
} from "../../wire/modern/envelope.js";
import { trimField } from "../../wire/modern/header-value.js";
import { REVISION_HEADER } from "../../wire/modern/headers.js";
import { createModernFront } from "../modern-front.js";
import { toOffer } from "../offer.js";
import { ownSenders, type Senders } from "../senders.js";
import { createToolHeaders } from "../tool-headers.js";
import { preflightHeaders, withCors } from "./cors.js";
import { refuseHttp, sendError } from "./error-reply.js";
import type { EraEndpoint, Inbound } from "./inbound.js";
import { createModernEndpoint } from "./modern-endpoint.js";
import { createOriginGuard, type GuardOptions } from "./origin-guard.js";

export interface EndpointOptions extends GuardOptions {
  readonly service: Service;
  readonly ports: { readonly clock: Clock; readonly journal: Journal };
  readonly limits: Limits;
  readonly authenticator: Authenticator;
  readonly forwardUnknown: boolean;
  /** `auto` serves both eras where `legacy` is given. */
  readonly frontEra: "auto" | "legacy" | "modern";
  /** Answers what does not speak the modern era: every GET and DELETE, and POSTs without an envelope. */
  readonly legacy?: EraEndpoint | undefined;
  /** Default: credentials end here. */
  readonly senders?: Senders | undefined;
}

export interface Endpoint {
  readonly handle: HttpHandler;
  /** Ends the subscriptions gracefully and refuses new requests; calls in flight go on. */
  close(): void;
}

/** One MCP endpoint: guards, then sender, then era. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { limits, authenticator, frontEra, ports, senders = ownSenders } = options;
  const legacy = frontEra === "modern" ? undefined : options.legacy;
  const offer = toOffer(legacy !== undefined, options.forwardUnknown);
  const methods = legacy === undefined ? "POST, OPTIONS" : "POST, GET, DELETE, OPTIONS";
  const guard = createOriginGuard(options);
  const toolHeaders = createToolHeaders(options.service, limits);
  const front = createModernFront({
    ...ports,
    limits,
    service: toolHeaders.observe(options.service),
    offer,
  });
  const modern = createModernEndpoint({ ...ports, limits, front, toolHeaders });

  const dispatch = (inbound: Inbound, message: ParsedText): void => {
    const spans = message.type === "request" ? readMeta(message.params) : NO_SPANS;
    const speaksLegacy = frontEra === "legacy" || !isModern(inbound.request, message, spans);
    if (!speaksLegacy) modern.post(inbound, spans);
    else if (legacy !== undefined) legacy(inbound);
    else if (message.type === "request" && message.method === "initialize") {
      const { error } = unsupportedRevision(requestedRevision(message.params), offer.revisions);
      sendError(inbound.reply, 400, message.id, error);
    } else modern.post(inbound, spans);
  };

  const post = (unread: Inbound): void => {
    const { request, reply, sender, gone } = unread;
    if (request.body === undefined) {
      const oversized = request.bodyProblem === "oversized";
      if (oversized)
        refuseHttp(reply, 413, `the body is longer than ${limits.maxMessageBytes} bytes`);
      else sendError(reply, 400, undefined, wireError(PARSE_ERROR, "the body is not UTF-8"));
      return;
    }
    if (!isJson(request.headers["content-type"])) {
      refuseHttp(reply, 415, "the body must be application/json");
      return;
    }
    const message = parseMessage(request.body);
    if (message.type === "malformed") {
      sendError(reply, 400, message.id, wireError(message.code, message.reason));
    } else dispatch({ request, message, sender, reply, gone }, message);
  };

  const route = (inbound: Inbound): void => {
    const { method } = inbound.request;
    if (method === "POST") post(inbound);
    else if (legacy !== undefined && (method === "GET" || method === "DELETE")) legacy(inbound);
    else refuseHttp(inbound.reply, 405, "method not allowed", { allow: methods });
  };

  const admit = (
    request: HttpRequest,
    reply: HttpReply,
    gone: AbortSignal,
    authentication: Authentication,
  ): void => {
    if (authentication.type === "refused") {
      const { status, headers, reason } = authentication;
      refuseHttp(reply, status, reason, headers);
      return;
    }
    const sender = senders({
      principal: authentication.principal,
      anonymous: authentication.anonymous,
      affinity: affinityOf(request.headers["erabridge-session"]),
      authorization: request.headers["authorization"],
    });
    route({ request, message: undefined, sender, reply, gone });
  };

  const handle: HttpHandler = (request, plainReply, gone) => {
    const refusal = guard(request.headers);
    if (refusal !== undefined) {
      refuseHttp(plainReply, 403, refusal);
      return;
    }
    const origin = request.headers["origin"];
    const reply = origin === undefined ? plainReply : withCors(plainReply, origin);
    if (request.method === "OPTIONS") {
      reply.send(204, { allow: methods, ...preflightHeaders(request.headers, methods) }, "");
      return;
    }
    const authentication = authenticator(request.headers);
    if (!(authentication instanceof Promise)) {
      admit(request, reply, gone, authentication);
      return;
    }
    authentication.then(
      (settled) => admit(request, reply, gone, settled),
      (error: unknown) => {
        ports.journal.error("authentication-failed", { error: String(error) });
        refuseHttp(reply, 503, "the sender cannot be authenticated at present");
      },
    );
  };

  return { handle, close: front.close };
}

const NO_SPANS: MetaSpans = { params: undefined, meta: undefined };

function isModern(request: HttpRequest, message: ParsedText, spans: MetaSpans): boolean {
  const revision = request.headers[REVISION_HEADER];
  const hints = {
    revision: revision === undefined ? undefined : trimField(revision),
    hasSession: request.headers["mcp-session-id"] !== undefined,
  };
  return eraOf(message, claims(message, spans), hints) === "modern";
}

function claims(message: ParsedText, spans: MetaSpans): boolean {
  switch (message.type) {
    case "request":
      return hasEnvelope(spans.meta);
    case "notification":
      return hasEnvelope(readMeta(message.params).meta);
    case "batch":
      return message.elements.some((text) => hasEnvelope(readMeta(memberAt(text, "params")).meta));
    default:
      return false;
  }
}

function affinityOf(header: string | undefined): string | undefined {
  return header === undefined || header.length > MAX_AFFINITY_CHARACTERS ? undefined : header;
}

function requestedRevision(params: string | undefined): string | null {
  return asString(memberAt(params, "protocolVersion")) ?? null;
}

function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || contentType === "" || /json/i.test(contentType);
}
