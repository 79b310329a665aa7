import type { RequestId } from "../jsonrpc/message.js";
import { createTurnoverSet } from "../model/turnover.js";
import type { CallOutlet } from "./call-outlet.js";
import { requestKey } from "./request-key.js";

/** The calls of one legacy session that have no answer yet. */
export interface OpenCalls {
  /**
   * Enters a call. The outlet given to `run` is the call's own with one difference: once it has been
   * answered or abandoned, the call is no longer open and nothing more goes out.
   */
  run(
    id: RequestId,
    outlet: CallOutlet,
    run: (outlet: CallOutlet, signal: AbortSignal) => void,
  ): void;
  /** Aborts every call with that id; false when there is none. */
  cancel(id: RequestId): boolean;
  cancelAll(): void;
  readonly size: number;
  /** Resolves when no call is open. */
  whenIdle(): Promise<void>;
}

interface OpenCall {
  readonly key: string;
  readonly controller: AbortController;
  readonly abandon: () => void;
}

/** `onOver` is called once for each call, when it is no longer open. */
export function createOpenCalls(onOver: () => void): OpenCalls {
  const calls = createTurnoverSet<OpenCall>();
  const waiting: (() => void)[] = [];

  const leave = (call: OpenCall): boolean => {
    if (!calls.delete(call)) return false;
    onOver();
    if (calls.size === 0) for (const wake of waiting.splice(0)) wake();
    return true;
  };

  /** Those who wait hear of it first, for what they take back goes on the stream of the call. */
  const abort = (call: OpenCall): void => {
    call.controller.abort();
    call.abandon();
  };

  return {
    run(id, outlet, run) {
      const abandon = (): void => {
        if (leave(call)) outlet.abandon();
      };
      const call: OpenCall = {
        key: requestKey(id),
        controller: new AbortController(),
        abandon,
      };
      calls.add(call);
      const own: CallOutlet = {
        send: (text) => {
          if (calls.has(call)) outlet.send(text);
        },
        answer: (text, challenge) => {
          if (leave(call)) outlet.answer(text, challenge);
        },
        abandon,
      };
      run(own, call.controller.signal);
    },
    cancel(id) {
      const key = requestKey(id);
      const found = [...calls].filter((call) => call.key === key);
      for (const call of found) abort(call);
      return found.length > 0;
    },
    cancelAll() {
      for (const call of [...calls]) abort(call);
    },
    get size() {
      return calls.size;
    },
    whenIdle: () =>
      calls.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  };
}
