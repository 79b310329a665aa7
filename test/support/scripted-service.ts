import type {
  Acknowledgement,
  Advertisement,
  Caller,
  Interest,
  Notices,
  Operation,
  Outcome,
  Service,
} from "../../src/index.js";

/** One `relay` the front made, and how the test answers it. */
export interface RelayedCall {
  readonly operation: Operation;
  readonly notices: Notices;
  readonly signal: AbortSignal;
  settle(outcome: Outcome): void;
}

export interface OpenWatch {
  readonly interest: Interest;
  readonly caller: Caller;
  readonly notices: Notices;
  readonly signal: AbortSignal;
  acknowledge(honoured: string): void;
  reject(error: unknown): void;
  /** The server ends the watch. */
  end(): void;
}

export interface PendingDescribe {
  readonly caller: Caller;
  settle(advertisement: Advertisement): void;
  reject(error: unknown): void;
}

/** A service that does what the test says, when it says so, and keeps what it was asked. */
export interface ScriptedService {
  readonly service: Service;
  readonly calls: RelayedCall[];
  readonly watches: OpenWatch[];
  readonly describes: PendingDescribe[];
  readonly notified: [method: string, params: string | undefined, caller: Caller][];
}

/** `answer` settles a round at once; where it returns undefined, the test settles it later. */
export function createScriptedService(
  answer: (operation: Operation) => Outcome | undefined = () => undefined,
): ScriptedService {
  const calls: RelayedCall[] = [];
  const watches: OpenWatch[] = [];
  const describes: PendingDescribe[] = [];
  const notified: ScriptedService["notified"] = [];
  const service: Service = {
    describe: (caller) =>
      new Promise((settle, reject) => {
        describes.push({ caller, settle, reject });
      }),
    relay: (operation, notices, signal) =>
      new Promise((settle) => {
        calls.push({ operation, notices, signal, settle });
        const outcome = answer(operation);
        if (outcome !== undefined) settle(outcome);
      }),
    watch: (interest, caller, notices, signal) =>
      new Promise<Acknowledgement>((resolve, reject) => {
        let end: () => void = () => undefined;
        const ended = new Promise<void>((over) => {
          end = over;
        });
        const acknowledge = (honoured: string): void => resolve({ honoured, ended });
        watches.push({ interest, caller, notices, signal, acknowledge, reject, end: () => end() });
      }),
    notify: (method, params, caller) => {
      notified.push([method, params, caller]);
    },
    close: () => Promise.resolve(),
  };
  return { service, calls, watches, describes, notified };
}

export function complete(result: string): Outcome {
  return { type: "complete", result };
}
