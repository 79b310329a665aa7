import { expect } from "vitest";
import { createEndpoint, type EndpointOptions } from "../../../src/front/http/endpoint.js";
import {
  type Authenticator,
  DEFAULT_LIMITS,
  type HttpHeaders,
  type Journal,
  type Limits,
  toPrincipal,
} from "../../../src/index.js";
import { createManualClock } from "../../support/manual-clock.js";
import { ask, type RecordedReply } from "../../support/recorded-reply.js";
import { createScriptedService, type ScriptedService } from "../../support/scripted-service.js";

const SILENT: Journal = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The bearer token names the principal. */
const byToken: Authenticator = (headers) => ({
  type: "accepted",
  principal: toPrincipal(headers["authorization"] ?? "local"),
  anonymous: false,
});

export const ENVELOPE =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';

/** `{"_meta":{…envelope…}` followed by more members of the params. */
export function params(members = "", meta = ""): string {
  return `{"_meta":{${ENVELOPE}${meta}}${members}}`;
}

export function requestText(id: string, method: string, paramsText: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
}

export interface Talk extends ScriptedService {
  readonly clock: ReturnType<typeof createManualClock>;
  close(): void;
  /** POSTs a modern request with the headers that belong to it, and others that replace them. */
  post(
    id: string,
    method: string,
    paramsText: string,
    headers?: Record<string, string | undefined>,
  ): RecordedReply;
  postText(body: string, headers: HttpHeaders): RecordedReply;
  http(request: Parameters<typeof ask>[1]): RecordedReply;
}

/** An endpoint over a scripted service, talked to in texts. */
export function startTalk(
  options: Partial<Omit<EndpointOptions, "limits">> & { limits?: Partial<Limits> } = {},
  scripted: ScriptedService = createScriptedService(),
): Talk {
  const clock = createManualClock();
  const endpoint = createEndpoint({
    service: scripted.service,
    ports: { clock, journal: SILENT },
    authenticator: byToken,
    allowedHosts: [],
    allowedOrigins: [],
    forwardUnknown: true,
    frontEra: "auto",
    ...options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  });
  const http: Talk["http"] = (request) => ask(endpoint.handle, request);
  const postText: Talk["postText"] = (body, headers) => http({ body, headers });
  return {
    ...scripted,
    clock,
    close: endpoint.close,
    http,
    postText,
    post: (id, method, paramsText, headers = {}) => {
      const all: Record<string, string | undefined> = {
        host: "localhost:8080",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...headers,
      };
      const given = Object.entries(all).filter((entry): entry is [string, string] => {
        return entry[1] !== undefined;
      });
      return postText(requestText(id, method, paramsText), Object.fromEntries(given));
    },
  };
}

export function expectError(
  reply: RecordedReply,
  status: number,
  id: unknown,
  code: number,
): Record<string, unknown> {
  expect(reply).toMatchObject({ status, ended: true });
  const message = JSON.parse(reply.body) as { id: unknown; error: Record<string, unknown> };
  expect(message).toMatchObject({ jsonrpc: "2.0", id, error: { code } });
  return message.error;
}
