import { BridgeError } from "../errors.js";
import { asString, type JsonText } from "../jsonrpc/json-text.js";
import { callText, type ErrorMessage } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Caller } from "../model/caller.js";
import { isModernRevision } from "../model/era.js";
import { PeerError, toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Notices } from "../model/notice.js";
import type { Operation, Outcome } from "../model/operation.js";
import type { Service } from "../model/service.js";
import { HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION } from "../model/wire-error.js";
import type { Clock } from "../ports/clock.js";
import type { HttpHeaders } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import type { ListPage } from "../translation/pagination.js";
import { standardHeaders } from "../wire/modern/headers.js";
import { parameterHeaders } from "../wire/modern/parameter-headers.js";
import { createDeadlines } from "./deadlines.js";
import { createDiscovery, namesIn, noRevision } from "./discovery.js";
import { type ExchangeLoss, toBridgeError } from "./exchange.js";
import { toWireError } from "./legacy-conversation.js";
import type { Link } from "./link.js";
import { createListenHub } from "./listen-hub.js";
import { toOutcome } from "./modern-answer.js";
import { createModernConversation } from "./modern-conversation.js";
import { sendRound } from "./modern-rounds.js";
import { operatorHeaders } from "./operator-headers.js";
import { createToolCatalogue } from "./tool-catalogue.js";

export interface ModernUpstreamOptions {
  /** For logs and error messages. */
  readonly name: string;
  /** Opens a conversation with the server: at first use, and again after one has ended. */
  readonly openLink: () => Promise<Link>;
  /**
   * Over HTTP, what the operator adds to the headers of a caller's requests; computed headers win.
   * Undefined where the transport has no headers.
   */
  readonly headers: ((caller: Caller) => HttpHeaders) | undefined;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
}

export interface ModernUpstreamStats {
  /** Requests at the server, subscriptions included. */
  readonly requests: number;
  /** Callers with a watch. */
  readonly watchers: number;
}

export interface ModernUpstream extends Service {
  stats(): ModernUpstreamStats;
}

/** What may be sent a second time when an answer was lost: it changes nothing at the server. */
const SAFE: readonly string[] = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
  "tasks/get",
];

/** Why a request goes out once more, each at most once for a round. */
type Again = "not-sent" | "lost" | "headers" | "revision";

/** A stateless modern server as a service. */
export function createModernUpstream(options: ModernUpstreamOptions): ModernUpstream {
  const { name, clock, journal, limits, openLink } = options;
  const deadlines = createDeadlines(clock);
  const conversation = createModernConversation({
    name,
    openLink,
    clock,
    deadlines,
    journal,
    timeoutMs: limits.requestTimeoutMs,
    ceilingMs: limits.requestCeilingMs,
  });
  const discovery = createDiscovery({ name, clock, limits });
  const catalogue = createToolCatalogue({ name, journal, limits });
  const mirrors = options.headers !== undefined;

  const headersOf = mirrors
    ? (caller: Caller, method: string, params?: JsonText): HttpHeaders => ({
        ...operatorHeaders(options.headers?.(caller) ?? NONE),
        ...standardHeaders(method, params),
      })
    : undefined;
  const hub = createListenHub({ name, conversation, headers: headersOf, clock, journal, limits });

  /** `Mcp-Param-*` of a tool call; what its client sent beside them passes. */
  const parameters = async (operation: Operation, signal: AbortSignal): Promise<HttpHeaders> => {
    const { params, caller, parameterHeaders: sent } = operation;
    const tool = asString(memberAt(params, "name"));
    if (operation.method !== "tools/call" || tool === undefined) return sent ?? {};
    const list: ListPage = async (page) => {
      const outcome = await attempt(
        { ...PLAIN, method: "tools/list", params: page, caller },
        () => {},
        signal,
        [],
      );
      return outcome.type === "complete" ? outcome.result : undefined;
    };
    const declared = await catalogue.headersOf(caller, tool, list);
    return { ...sent, ...parameterHeaders(declared, memberAt(params, "arguments")) };
  };

  const headers = async (
    operation: Operation,
    signal: AbortSignal,
  ): Promise<HttpHeaders | undefined> => {
    if (headersOf === undefined) return undefined;
    const { caller, method, params } = operation;
    const own = await parameters(operation, signal);
    return { ...own, ...headersOf(caller, method, params) };
  };

  /** Is there one more way for a round that ended so? */
  const again = (
    operation: Operation,
    ending: { readonly loss?: ExchangeLoss; readonly message?: ErrorMessage },
  ): Again | undefined => {
    const { loss, message } = ending;
    if (loss?.kind === "not-sent") return "not-sent";
    if (loss?.kind === "broken") {
      const isSafe = SAFE.includes(operation.method) && operation.answers === undefined;
      return isSafe ? "lost" : undefined;
    }
    if (message === undefined) return undefined;
    const { code } = toWireError(message.error);
    if (code === HEADER_MISMATCH && mirrors && operation.method === "tools/call") {
      catalogue.forget(operation.caller);
      return "headers";
    }
    if (code !== UNSUPPORTED_PROTOCOL_VERSION) return undefined;
    const supported = namesIn(memberAt(message.error, "data", "supported"));
    if (!supported.some(isModernRevision)) throw noRevision(name, supported);
    return "revision";
  };

  /** Rejects with BridgeError when the server cannot be asked or its answer is lost. */
  const attempt = async (
    operation: Operation,
    notices: Notices,
    signal: AbortSignal,
    tried: readonly Again[],
  ): Promise<Outcome> => {
    const sent = await headers(operation, signal);
    const ending = await sendRound(conversation, operation, sent, notices, signal);
    if (ending.type === "cancelled") {
      throw new BridgeError("cancelled", "the client cancelled the request");
    }
    const isAnswer = ending.type === "answered" && ending.message.type === "response";
    const reason = isAnswer ? undefined : again(operation, failureOf(ending));
    if (reason !== undefined && !tried.includes(reason) && !signal.aborted) {
      journal.info("request-repeated", { upstream: name, method: operation.method, reason });
      return attempt(operation, notices, signal, [...tried, reason]);
    }
    if (ending.type === "lost") throw toBridgeError(ending.loss, name);
    return toOutcome(ending.message, operation, name);
  };

  const relay = async (
    operation: Operation,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Outcome> => {
    try {
      const outcome = await attempt(operation, notices, signal, []);
      if (!mirrors || operation.method !== "tools/list" || outcome.type !== "complete") {
        return outcome;
      }
      return { ...outcome, result: catalogue.pass(operation.caller, outcome.result) };
    } catch (error) {
      return toFailed(error);
    }
  };

  return {
    relay,

    async describe(caller, signal) {
      const known = discovery.recall(caller);
      if (known !== undefined) return known;
      const operation = { ...PLAIN, method: "server/discover", params: "{}", caller };
      const outcome = await attempt(operation, () => {}, signal, []);
      if (outcome.type === "complete") return discovery.learn(caller, outcome.result);
      if (outcome.type === "failed") throw new PeerError(outcome.error);
      throw new BridgeError("upstream-invalid", `${name} asks for input before it says what it is`);
    },

    watch: hub.watch,

    notify(method, params, caller) {
      conversation.ready().then(
        () => conversation.send(callText(undefined, method, params), headersOf?.(caller, method)),
        () => journal.debug("client-notification-dropped", { method, anonymous: caller.anonymous }),
      );
    },

    async close() {
      hub.close();
      await conversation.close();
      deadlines.close();
    },

    stats: () => ({ requests: conversation.size, watchers: hub.groups }),
  };
}

const NONE: HttpHeaders = {};

/** An operation of the bridge's own. */
const PLAIN = {
  logLevel: undefined,
  wantsProgress: false,
  answers: undefined,
} as const;

function failureOf(ending: Exclude<Awaited<ReturnType<typeof sendRound>>, { type: "cancelled" }>): {
  readonly loss?: ExchangeLoss;
  readonly message?: ErrorMessage;
} {
  if (ending.type === "lost") return { loss: ending.loss };
  return ending.message.type === "error" ? { message: ending.message } : {};
}
