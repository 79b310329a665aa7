import type { JsonText } from "../jsonrpc/json-text.js";
import type { RawObject } from "../jsonrpc/raw-object.js";
import type { Caller } from "../model/caller.js";
import type { InputMethod } from "../model/input-request.js";
import type { LogLevel } from "../model/log-level.js";
import type { Notice, Notices } from "../model/notice.js";
import type { Outcome } from "../model/operation.js";
import type { Stop } from "../ports/clock.js";
import type { BridgeNotice } from "../translation/bridge-notices.js";
import type { Exchange } from "./exchange.js";
import { type CallEvent, type CallState, callAfter } from "./legacy-state.js";
import type { Question } from "./question.js";
import type { Lease } from "./session-pool.js";

/** The round of the client that waits for a call. */
export interface Attachment {
  readonly logLevel: LogLevel | undefined;
  readonly wantsProgress: boolean;
  readonly notices: Notices;
  /** Ends the round; called once. */
  readonly settle: (outcome: Outcome) => void;
}

/** A question of the server within a call, under the key by which the client answers it. */
export interface OpenQuestion {
  readonly key: string;
  readonly method: InputMethod;
  readonly params: JsonText | undefined;
  /** The server's own request; undefined for a URL that stands in an error -32042. */
  readonly reverse: Question | undefined;
  /** What happens to it when the call ends first; by default the server is told that nobody answers. */
  readonly handBack: ((question: Question) => void) | undefined;
  /** Did a round carry it to the client yet? */
  asked: boolean;
  /** Rounds that came back without an answer to it. */
  unanswered: number;
}

/** What a call needs once its server has asked something. */
export interface Dialogue {
  /** Names the call inside `requestState`. */
  readonly callId: string;
  /** The server asked in the middle of the call, so it has begun to carry it out. */
  begun: boolean;
  /** Rounds that have ended with questions. */
  round: number;
  readonly questions: Map<string, OpenQuestion>;
  /** Keys are never used twice in a call. */
  readonly usedKeys: Set<string>;
  /** Keep-alives sent to servers that watch for progress of the answer. */
  beats: number;
  /** Stops the timer of the state it is in. */
  stop: Stop;
  /** Stops the wait for the client. */
  stopExpiry: Stop;
  /** The server wants these URLs visited before the call is made again; see error -32042. */
  urls: UrlWait | undefined;
}

/** URL elicitations that a refused call waits for. */
export interface UrlWait {
  /** Elicitation ids that are not yet complete. */
  readonly open: Set<string>;
  /** Called when the last one is. */
  completed: () => void;
}

/** What arrived for a call while no round waited. */
export interface KeptNotices {
  progress: JsonText | undefined;
  readonly logs: Notice[];
}

/** How a call that had questions came to its end, for retries that come too late. */
export type CallEnd = "consumed" | "expired" | "cancelled" | "lost";

/** One request of a client at a legacy server, over as many rounds as it takes. */
export interface LegacyCall {
  /** Counts calls in the order of their start. */
  readonly order: number;
  readonly method: string;
  /** As the client wrote them. */
  readonly params: JsonText;
  /** The same, read. */
  readonly spans: RawObject | undefined;
  /** Method and name or URI of what is called, once somebody needed it. */
  subject: string | undefined;
  /** Who is asked: the caller of the newest round. */
  caller: Caller;
  logLevel: LogLevel | undefined;
  /** Aborts when the client of the newest round goes away. */
  signal: AbortSignal;
  state: CallState;
  attachment: Attachment | undefined;
  lease: Lease | undefined;
  exchange: Exchange | undefined;
  dialogue: Dialogue | undefined;
  /** The `inputResponses` that came with the first round. */
  readonly prefilled: JsonText | undefined;
  /** The request was sent once more after the server had refused to see it. */
  resent: boolean;
  /** The params of the newest progress that went to the client. */
  lastProgress: JsonText | undefined;
  kept: KeptNotices | undefined;
  keptOutcome: Outcome | undefined;
  /** What the client should know about how its call crossed. */
  remarks: readonly BridgeNotice[];
  /** The id of the server's task that carries the call out. */
  task: string | undefined;
}

/** Moves the call on; false where the event means nothing in its state. */
export function moveCall(call: LegacyCall, event: CallEvent): boolean {
  const next = callAfter(call.state, event);
  if (next === undefined) return false;
  call.state = next;
  return true;
}

export function remark(call: LegacyCall, notice: BridgeNotice): void {
  if (call.remarks.some(({ code }) => code === notice.code)) return;
  call.remarks = [...call.remarks, notice];
}
