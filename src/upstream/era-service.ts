import type { Era } from "../model/era.js";
import { toFailed } from "../model/failure.js";
import type { Failed } from "../model/operation.js";
import type { Service } from "../model/service.js";

/** What the bridge believes of a server, since when and why. */
export interface Verdict {
  readonly era: Era;
  /** The modern revision to speak, or the one the operator pinned. */
  readonly revision: string | undefined;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** One request on a service: how it failed, and its value or its error to pass on. */
export interface Use<T> {
  readonly failed: Failed | undefined;
  give(): T;
}

/** The service for one verdict, and the requests that run on it. */
export interface EraService<S extends Service> {
  readonly verdict: Verdict;
  /** The server has said so, or has served a request. */
  readonly proven: boolean;
  readonly service: S;
  /** The same era, believed from now on. */
  renew(reason: string, at: number): void;
  prove(): void;
  /** Never rejects. `failureOf` finds the failure that a value may be. */
  use<T>(
    act: (service: S) => Promise<T>,
    failureOf: (value: T) => Failed | undefined,
  ): Promise<Use<T>>;
  /** Takes no new requests; closes the service once nothing runs on it. */
  retire(): void;
  /** Closes the service, which ends whatever runs on it; resolves when it is closed. */
  close(): Promise<void>;
  /** Settles when a retired service is closed. */
  readonly ended: Promise<void>;
}

export function createEraService<S extends Service>(first: Verdict, service: S): EraService<S> {
  let verdict = first;
  let proven = false;
  let running = 0;
  let retired = false;
  let closing: Promise<void> | undefined;
  let end: (closing: Promise<void>) => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const close = (): Promise<void> => {
    retired = true;
    closing ??= service.close();
    end(closing);
    return closing;
  };

  const endIfIdle = (): void => {
    if (retired && running === 0) void close();
  };

  return {
    get verdict() {
      return verdict;
    },
    get proven() {
      return proven;
    },
    service,
    ended,
    renew(reason, at) {
      verdict = { ...verdict, reason, at };
    },
    prove() {
      proven = true;
    },
    use(act, failureOf) {
      running += 1;
      const left = (): void => {
        running -= 1;
        endIfIdle();
      };
      return act(service).then(
        (value) => {
          left();
          return { failed: failureOf(value), give: () => value };
        },
        (error: unknown) => {
          left();
          return {
            failed: toFailed(error),
            give() {
              throw error;
            },
          };
        },
      );
    },
    retire() {
      if (retired) return;
      retired = true;
      endIfIdle();
    },
    close,
  };
}
