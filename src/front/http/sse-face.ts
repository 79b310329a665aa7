import type { ChannelFront } from "../channel-front.js";
import { createLegacyChannelFront } from "../legacy-channel-front.js";
import type { LegacySessionDeps } from "../legacy-session.js";
import { refuseHttp } from "./error-reply.js";
import { openEventConnection } from "./event-connection.js";
import type { EraEndpoint, Inbound } from "./inbound.js";

/** The oldest way over HTTP: one stream down, POSTs up (2024-11-05/basic/transports, "HTTP with SSE"). */
export interface SseFace {
  /** Takes the GET that opens a session and the POSTs of its messages. */
  readonly handle: EraEndpoint;
  readonly sessions: number;
  /** Ends every session. */
  close(): void;
}

interface SseSession {
  readonly principal: string;
  readonly front: ChannelFront;
  readonly end: () => void;
}

/** The paths under which a stream is opened and its messages are taken. */
const STREAM_PATH = /\/sse\/?$/;
const MESSAGES_PATH = "/messages";
const SESSION = "sessionId";

/** Is it one of the paths of this face, below an endpoint's own? */
export function isSsePath(path: string): boolean {
  return STREAM_PATH.test(path) || path.endsWith(MESSAGES_PATH);
}

/** The end of the stream is the end of its session: what is under way is cancelled. */
export function createSseFace(deps: LegacySessionDeps): SseFace {
  const { entropy, journal, limits } = deps;
  const sessions = new Map<string, SseSession>();
  let closed = false;

  const open = ({ request, reply, gone, sender }: Inbound): void => {
    if (closed || sessions.size >= limits.maxFrontSessions) {
      journal.warn("front-sessions-full", { sessions: sessions.size });
      refuseHttp(reply, 503, "no session can be served at present", { "retry-after": "1" });
      return;
    }
    const id = entropy.token();
    const forget = (): void => {
      if (sessions.delete(id)) void front.finish(0);
    };
    const connection = openEventConnection(deps, reply, gone, forget);
    const front = createLegacyChannelFront(deps, sender, {
      send: (text) => connection.named("message", text),
    });
    const end = (): void => {
      forget();
      connection.end();
    };
    sessions.set(id, { principal: sender.principal, front, end });
    const path = request.path.replace(STREAM_PATH, "") + MESSAGES_PATH;
    connection.named("endpoint", `${path}?${SESSION}=${encodeURIComponent(id)}`);
  };

  const take = ({ request, message, reply, sender }: Inbound): void => {
    const id = parameter(request.query, SESSION);
    const session = sessions.get(id ?? "");
    if (id === undefined) refuseHttp(reply, 400, `the parameter ${SESSION} is required`);
    else if (session === undefined || session.principal !== sender.principal) {
      refuseHttp(reply, 404, "Session not found");
    } else if (message === undefined || message.type === "malformed") {
      refuseHttp(reply, 400, "the body is no message");
    } else {
      reply.send(202, { "content-type": "text/plain" }, "Accepted");
      session.front.message(message);
    }
  };

  return {
    handle(inbound) {
      const { method } = inbound.request;
      if (method === "GET") open(inbound);
      else if (method === "POST") take(inbound);
      else refuseHttp(inbound.reply, 405, "method not allowed", { allow: "GET, POST" });
    },
    get sessions() {
      return sessions.size;
    },
    close() {
      closed = true;
      for (const { end } of [...sessions.values()]) end();
    },
  };
}

function parameter(query: string, name: string): string | undefined {
  for (const pair of query.split("&")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at) !== name) continue;
    try {
      return decodeURIComponent(pair.slice(at + 1));
    } catch {
      return undefined;
    }
  }
  return undefined;
}
