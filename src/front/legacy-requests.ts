import { BridgeError } from "../errors.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND } from "../jsonrpc/error-codes.js";
import { asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { errorText, type RequestId, type RequestMessage, resultText } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Advertisement } from "../model/advertisement.js";
import type { Caller } from "../model/caller.js";
import type { LegacyRevision } from "../model/era.js";
import { toFailed } from "../model/failure.js";
import { isLogLevel, type LogLevel } from "../model/log-level.js";
import { type WireError, wireError } from "../model/wire-error.js";
import { requestMembership } from "../wire/classify.js";
import { isLegacyMethod } from "../wire/legacy/methods.js";
import { MODERN_REQUESTS } from "../wire/modern/methods.js";
import { type AdvertisedTools, createAdvertisedTools } from "./advertised-tools.js";
import { answerFailed, type CallOutlet } from "./call-outlet.js";
import { runLegacyCall } from "./legacy-call.js";
import type { LegacyFrontDeps } from "./legacy-deps.js";
import type { LegacyWatches } from "./legacy-watches.js";
import { createOpenCalls } from "./open-calls.js";
import type { ReverseRequests } from "./reverse-requests.js";

/** The requests of an open session: some are answered here, most go to the server. */
export interface LegacyRequests {
  serve(message: RequestMessage, outlet: CallOutlet, revision: LegacyRevision): void;
  /** False when no such request is open. */
  cancel(id: RequestId): boolean;
  cancelAll(): void;
  readonly size: number;
  whenIdle(): Promise<void>;
}

export interface LegacyRequestsContext {
  readonly reverse: ReverseRequests;
  readonly watches: LegacyWatches;
  readonly caller: () => Caller;
  readonly advertisement: () => Advertisement | undefined;
  /** Settles when the session knows what it must know; undefined when it does. */
  readonly ready: Promise<void> | undefined;
  /** The client may have seen lists through another instance. */
  readonly seenElsewhere: boolean;
}

const EMPTY = "{}";

export function createLegacyRequests(
  deps: LegacyFrontDeps,
  context: LegacyRequestsContext,
): LegacyRequests {
  const { limits, inFlight } = deps;
  const { watches, caller } = context;
  const { principal } = caller();
  const calls = createOpenCalls(() => inFlight.leave(principal));
  const tools: AdvertisedTools = createAdvertisedTools({
    seenElsewhere: context.seenElsewhere,
    maxPages: limits.maxPages,
  });
  let logLevel: LogLevel | undefined;

  /** Runs one request that is answered here: its result, or its error. */
  const answerHere = (
    message: RequestMessage,
    outlet: CallOutlet,
    answer: Promise<JsonText | WireError>,
  ): void => {
    answer.then(
      (reached) =>
        outlet.answer(
          typeof reached === "string"
            ? resultText(message.id, reached)
            : errorText(message.id, reached.text),
        ),
      (error: unknown) => answerFailed(message, outlet, toFailed(error)),
    );
  };

  const setLevel = async (params: JsonText | undefined): Promise<JsonText | WireError> => {
    await context.ready;
    const advertised = context.advertisement();
    if (advertised !== undefined && !isObjectText(memberAt(advertised.capabilities, "logging"))) {
      return methodNotFound("logging/setLevel");
    }
    const level = asString(memberAt(params, "level"));
    if (!isLogLevel(level)) return wireError(INVALID_PARAMS, "level must be one of the log levels");
    logLevel = level;
    return EMPTY;
  };

  const subscribe = async (params: JsonText | undefined): Promise<JsonText | WireError> => {
    const uri = asString(memberAt(params, "uri"));
    if (uri === undefined) return wireError(INVALID_PARAMS, "uri must be a string");
    if (await watches.subscribe(uri)) return EMPTY;
    return wireError(INVALID_PARAMS, "the server does not tell changes of this resource", { uri });
  };

  const unsubscribe = async (params: JsonText | undefined): Promise<JsonText | WireError> => {
    const uri = asString(memberAt(params, "uri"));
    if (uri === undefined) return wireError(INVALID_PARAMS, "uri must be a string");
    watches.unsubscribe(uri);
    return EMPTY;
  };

  const relay = async (
    message: RequestMessage,
    outlet: CallOutlet,
    signal: AbortSignal,
    revision: LegacyRevision,
  ): Promise<void> => {
    if (context.ready !== undefined) await context.ready;
    const call = { ...deps, ...context, tools, revision, logLevel: () => logLevel };
    await runLegacyCall(message, outlet, signal, call);
  };

  const start = (
    message: RequestMessage,
    outlet: CallOutlet,
    revision: LegacyRevision,
    signal: AbortSignal,
  ): void => {
    const { method, params } = message;
    switch (method) {
      case "logging/setLevel":
        answerHere(message, outlet, setLevel(params));
        return;
      case "resources/subscribe":
        answerHere(message, outlet, subscribe(params));
        return;
      case "resources/unsubscribe":
        answerHere(message, outlet, unsubscribe(params));
        return;
      default:
        if (goesToServer(method, revision, deps.forwardUnknown)) {
          void relay(message, outlet, signal, revision);
        } else outlet.answer(errorText(message.id, methodNotFound(method).text));
    }
  };

  return {
    serve(message, outlet, revision) {
      if (!inFlight.enter(principal)) {
        const error = new BridgeError("overloaded", "too many requests of this client are open");
        outlet.answer(errorText(message.id, toFailed(error).error.text));
        return;
      }
      calls.run(message.id, outlet, (own, signal) => start(message, own, revision, signal));
    },
    cancel: calls.cancel,
    cancelAll: calls.cancelAll,
    get size() {
      return calls.size;
    },
    whenIdle: calls.whenIdle,
  };
}

function methodNotFound(method: string): WireError {
  return wireError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 128)}`);
}

/**
 * Requests that both eras have, and, where the operator lets them through, those that neither has.
 * Tasks have the same names in both and mean different things: the bridge serves them itself.
 */
function goesToServer(method: string, revision: LegacyRevision, unknown: boolean): boolean {
  const traits = MODERN_REQUESTS.get(method);
  if (traits === undefined) return unknown && requestMembership(method) === "unknown";
  return traits.extension === undefined && isLegacyMethod("client-request", method, revision);
}
