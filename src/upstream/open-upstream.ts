import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Failed, Outcome } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import type { Target } from "../ports/target.js";
import { createEraKeeper, type ModernStart } from "./era-keeper.js";
import { toEraPin } from "./era-pin.js";
import type { Verdict } from "./era-service.js";
import type { OpenLink } from "./era-source.js";

export interface UpstreamOptions<S extends Service> {
  readonly target: Target;
  /** The bridge's own `Implementation` object. */
  readonly identity: JsonText;
  /** `none` needs `upstreamEra`. */
  readonly probe: "in-place" | "sibling" | "none";
  /** `legacy`, `modern` or a revision: nothing is asked, and nothing is doubted. */
  readonly upstreamEra?: string | undefined;
  /**
   * Builds the service over a stateful server. `openLink` gives conversations before `initialize`; the
   * first of them may be the one that was probed.
   */
  readonly legacy: (openLink: OpenLink) => S;
  /** Builds the service over a stateless server; the first conversation may be the one that was probed. */
  readonly modern: (start: ModernStart) => S;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

export interface Upstream<S extends Service> extends Service {
  /**
   * Starts the server and looks at it before anyone asks. Resolves when its era is known, or when that
   * takes long. Rejects with BridgeError when it cannot be started or reached; the next caller tries again.
   */
  warm(): Promise<void>;
  /** The service to use, looked for as for a first request of this caller. Rejects with BridgeError. */
  ready(caller: Caller, signal: AbortSignal): Promise<S>;
  /** The server has agreed to a session that does not go through this service: the verdict is right. */
  confirm(): void;
  /** Undefined while nothing is known. */
  verdict(): Verdict | undefined;
  /** The service that goes with the verdict. */
  current(): S | undefined;
}

/**
 * A server of either era as one service. The era is found with the first caller or by `warm`, believed
 * for `Limits.verdictHorizonMs`, and looked at again when requests fail in a way that another era would
 * explain; a request is repeated over the other era only where the server cannot have touched it.
 * Outages and refused credentials are never verdicts. Throws BridgeError for options that cannot be.
 */
export function createUpstream<S extends Service>(options: UpstreamOptions<S>): Upstream<S> {
  const { target, probe, upstreamEra } = options;
  const pin = upstreamEra === undefined ? undefined : toEraPin(upstreamEra);
  if (pin === undefined && probe === "none") {
    throw new BridgeError(
      "not-bridgeable",
      `${target.name}: without a probe its era must be given`,
    );
  }
  const probeMode = probe === "sibling" ? "sibling" : "in-place";
  const eras = createEraKeeper({ ...options, pin, probeMode });

  /** One request on the present service, and once more where another era has to serve it. */
  const attempt = async <T>(
    caller: Caller,
    signal: AbortSignal,
    act: (service: S) => Promise<T>,
    failureOf: (value: T) => Failed | undefined,
  ): Promise<T> => {
    const ready = eras.ready(caller, signal);
    const service = ready instanceof Promise ? await ready : ready;
    const { failed, give } = await service.use(act, failureOf);
    eras.served(service, failed);
    if (failed === undefined || signal.aborted) return give();
    const other = await eras.replacement(service, failed, caller, signal);
    return other === undefined ? give() : (await other.use(act, failureOf)).give();
  };

  return {
    describe: (caller, signal) =>
      attempt(caller, signal, (service) => service.describe(caller, signal), never),
    relay: (operation, notices, signal) =>
      attempt(
        operation.caller,
        signal,
        (service) => service.relay(operation, notices, signal),
        failureIn,
      ).catch(toFailed),
    watch: (interest, caller, notices, signal) =>
      attempt(caller, signal, (service) => service.watch(interest, caller, notices, signal), never),
    notify: (method, params, caller) => eras.current?.service.notify(method, params, caller),
    warm: () => eras.warm(),
    confirm() {
      if (eras.current !== undefined) eras.served(eras.current, undefined);
    },
    ready: async (caller, signal) => (await eras.ready(caller, signal)).service,
    verdict: () => eras.current?.verdict,
    current: () => eras.current?.service,
    close: () => eras.close(),
  };
}

function failureIn(outcome: Outcome): Failed | undefined {
  return outcome.type === "failed" ? outcome : undefined;
}

function never(): undefined {
  return undefined;
}
