import type { Challenge } from "../../errors.js";
import { INVALID_REQUEST } from "../../jsonrpc/error-codes.js";
import { errorText, type RequestId, type RequestMessage } from "../../jsonrpc/message.js";
import { isLegacyRevision, isModernRevision } from "../../model/era.js";
import { wireError } from "../../model/wire-error.js";
import type { Sealer } from "../../ports/sealer.js";
import { trimField } from "../../wire/modern/header-value.js";
import type { LegacySessionDeps } from "../legacy-session.js";
import { errorHeaders, sendError } from "./error-reply.js";
import { createHttpSession, type HttpSession } from "./http-session.js";
import type { EraEndpoint, Inbound } from "./inbound.js";
import { createReplayBudget } from "./replay-budget.js";
import { createSessionStore } from "./session-store.js";

export interface LegacyEndpointDeps extends LegacySessionDeps {
  readonly sealer: Sealer;
  /** The server judges the clients' credentials; default false. */
  readonly sameResource?: boolean | undefined;
}

/** The legacy era on one Streamable HTTP endpoint (2025-11-25/basic/transports). */
export interface LegacyEndpoint {
  /** Takes POST, GET and DELETE. */
  readonly handle: EraEndpoint;
  readonly sessions: number;
  /** Ends every session: calls are cancelled, streams end. */
  close(): void;
}

const SESSION_HEADER = "mcp-session-id";
const REVISION_HEADER = "mcp-protocol-version";
/** What SDKs of this era put into the bodies of such answers. */
const NO_SESSION_ID = -32000;
const UNKNOWN_SESSION = -32001;

export function createLegacyEndpoint(deps: LegacyEndpointDeps): LegacyEndpoint {
  const { clock, limits } = deps;
  const budget = createReplayBudget(clock, limits);
  const sessionDeps = { ...deps, budget };
  const store = createSessionStore({
    ...deps,
    resume: (handshake, sender) => createHttpSession(sessionDeps, sender, handshake),
  });
  /** How to end each handshake that is under way. */
  const opening = new Set<() => void>();
  let closed = false;

  /** A handshake: its session exists once the server has been found. */
  const open = (inbound: Inbound, message: RequestMessage): void => {
    const { sender, reply, gone } = inbound;
    const session = createHttpSession(sessionDeps, sender);
    let over = false;
    const settle = (): void => {
      over = true;
      opening.delete(abandon);
    };
    const refuse = (): void => {
      if (over) return;
      settle();
      session.close("ended");
    };
    const abandon = (): void => {
      if (over) return;
      refuse();
      unavailable(inbound, message.id);
    };
    const answer = (text: string, challenge?: Challenge): void => {
      if (over) return;
      const { handshake } = session;
      const id = handshake === undefined ? undefined : store.add(session, handshake, sender);
      if (id !== undefined) {
        settle();
        reply.send(200, { "content-type": "application/json", [SESSION_HEADER]: id }, text);
        return;
      }
      refuse();
      if (handshake === undefined) {
        reply.send(challenge?.status ?? 200, errorHeaders(challenge), text);
      } else unavailable(inbound, message.id);
    };
    // A client that did not wait for its session id can never use the session.
    gone.addEventListener("abort", refuse, { once: true });
    opening.add(abandon);
    session.open(message, { send: () => {}, answer, abandon }, sender);
  };

  const withSession = (inbound: Inbound, then: (session: HttpSession) => void): void => {
    const { request, reply, sender } = inbound;
    const id = request.headers[SESSION_HEADER];
    const session = id === undefined ? undefined : store.find(trimField(id), sender);
    if (session !== undefined) then(session);
    else if (id === undefined) {
      const error = wireError(NO_SESSION_ID, "Bad Request: the header Mcp-Session-Id is required");
      sendError(reply, 400, idOf(inbound), error);
    } else sendError(reply, 404, idOf(inbound), wireError(UNKNOWN_SESSION, "Session not found"));
  };

  const post = (inbound: Inbound): void => {
    const { message, request, reply } = inbound;
    const opens = message?.type === "request" && message.method === "initialize";
    if (opens && request.headers[SESSION_HEADER] === undefined) open(inbound, message);
    else if (!opens && !isKnownRevision(request.headers[REVISION_HEADER])) {
      const error = wireError(INVALID_REQUEST, "MCP-Protocol-Version names an unknown revision");
      sendError(reply, 400, idOf(inbound), error);
    } else withSession(inbound, (session) => session.post(inbound));
  };

  const end = (inbound: Inbound): void => {
    const { request, reply, sender } = inbound;
    const id = request.headers[SESSION_HEADER];
    if (id !== undefined && store.end(trimField(id), sender)) reply.send(200, {}, "");
    else withSession(inbound, () => reply.send(200, {}, ""));
  };

  return {
    handle(inbound) {
      if (closed) unavailable(inbound, idOf(inbound));
      else if (inbound.request.method === "GET") {
        withSession(inbound, (session) => session.listen(inbound));
      } else if (inbound.request.method === "DELETE") end(inbound);
      else post(inbound);
    },
    get sessions() {
      return store.size;
    },
    close() {
      closed = true;
      for (const abandon of [...opening]) abandon();
      store.close();
      budget.close();
    },
  };
}

/**
 * Clients may go on to name the newest revision they know after they have agreed to an older one: the
 * session's own counts, as long as the header is a revision at all.
 */
function isKnownRevision(header: string | undefined): boolean {
  if (header === undefined) return true;
  const revision = trimField(header);
  return isLegacyRevision(revision) || isModernRevision(revision);
}

function idOf({ message }: Inbound): RequestId | undefined {
  return message?.type === "request" ? message.id : undefined;
}

function unavailable({ reply }: Inbound, id: RequestId | undefined): void {
  const error = wireError(NO_SESSION_ID, "no session can be served at present");
  reply.send(
    503,
    { "content-type": "application/json", "retry-after": "1" },
    errorText(id, error.text),
  );
}
