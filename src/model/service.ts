import type { JsonText } from "../jsonrpc/json-text.js";
import type { Advertisement } from "./advertisement.js";
import type { Caller } from "./caller.js";
import type { Interest, Notices } from "./notice.js";
import type { Operation, Outcome } from "./operation.js";

/** What a `watch` promises. */
export interface Acknowledgement {
  /** The `notifications` object of the acknowledgement: the part of the interest that is honoured. */
  readonly honoured: JsonText;
  /** Resolves when the upstream ends the watch by itself; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * The one interface in the middle. Upstreams implement it, interceptors wrap it, fronts call it;
 * it speaks the modern vocabulary, one round at a time.
 */
export interface Service {
  /** What the server says of itself to this caller. Rejects with BridgeError or PeerError. */
  describe(caller: Caller, signal: AbortSignal): Promise<Advertisement>;
  /**
   * One round of one client request: notices, then exactly one outcome. Never rejects. To go on after
   * `input-required`, relay again with `operation.answers`. Aborting the signal is the client's
   * cancellation: it is passed on to the server, no notice follows, and the outcome is of no use.
   */
  relay(operation: Operation, notices: Notices, signal: AbortSignal): Promise<Outcome>;
  /**
   * Watches for changes until the signal aborts. Resolves once the server side is arranged; notices
   * may follow from then on. Rejects with BridgeError or PeerError.
   */
  watch(
    interest: Interest,
    caller: Caller,
    notices: Notices,
    signal: AbortSignal,
  ): Promise<Acknowledgement>;
  /** A one-way message of the client to the server, where the server's era has a place for it. */
  notify(method: string, params: JsonText | undefined, caller: Caller): void;
  /** Ends everything: calls, watches, sessions, links. Resolves when nothing is left. */
  close(): Promise<void>;
}

/** Wraps a service: `const timed: Interceptor = (next) => ({ ...next, relay: … })`. */
export type Interceptor = (next: Service) => Service;
