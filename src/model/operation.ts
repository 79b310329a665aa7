import type { Challenge } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { RawObject } from "../jsonrpc/raw-object.js";
import type { Caller } from "./caller.js";
import type { LogLevel } from "./log-level.js";
import type { WireError } from "./wire-error.js";

/**
 * What resumes a call after a round: the raw text of a `requestState` string, opaque to everyone but
 * the upstream that made it. A modern upstream's own, or a sealed reference to a parked call.
 */
export type Continuation = JsonText;

/** The client's answers to the round before. */
export interface Answers {
  /** Undefined when the client sent none: the answers then belong to no round. */
  readonly continuation: Continuation | undefined;
  /** The `inputResponses` member as it came; undefined when absent. */
  readonly responses: JsonText | undefined;
}

/** One round of one client request. */
export interface Operation {
  readonly method: string;
  /**
   * The params object in the modern vocabulary, as the client wrote it: the envelope keys of `_meta`
   * may still stand in it, `inputResponses` and `requestState` do not.
   */
  readonly params: JsonText;
  /** `params` as it was read already; of no use when its text is another one. */
  readonly spans?: RawObject;
  readonly caller: Caller;
  /** Undefined: the client wants no log messages. */
  readonly logLevel: LogLevel | undefined;
  /** The client wants progress notices. */
  readonly wantsProgress: boolean;
  readonly answers: Answers | undefined;
  /** `Mcp-Param-*` headers as the client sent them, lower-case names; only from an HTTP front. */
  readonly parameterHeaders?: Readonly<Record<string, string>>;
}

/**
 * Why a round failed. `peer`: the server answered with an error. `unknown-method`: nobody implements
 * the method. `refused`: the client's request is at fault. The rest are the bridge's own.
 */
export type FailureCause =
  | "peer"
  | "unknown-method"
  | "refused"
  | "unavailable"
  | "timeout"
  | "overloaded"
  | "cancelled";

export interface Complete {
  readonly type: "complete";
  /** The result object in the modern vocabulary. */
  readonly result: JsonText;
}

export interface InputRequired {
  readonly type: "input-required";
  /** The `inputRequests` object; undefined when the server only wants to be asked again. */
  readonly requests: JsonText | undefined;
  readonly continuation: Continuation | undefined;
  /** The whole `InputRequiredResult`. */
  readonly result: JsonText;
}

export interface Failed {
  readonly type: "failed";
  readonly error: WireError;
  readonly cause: FailureCause;
  /** How the server refused the client's own credentials; for fronts that can hand it on. */
  readonly challenge?: Challenge | undefined;
}

export type Outcome = Complete | InputRequired | Failed;
