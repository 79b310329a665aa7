import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import { isModernRevision, type ModernRevision, NEWEST_MODERN } from "../model/era.js";
import type { Limits } from "../model/limits.js";
import type { Failed } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import type { Target } from "../ports/target.js";
import type { EraPin } from "./era-pin.js";
import { createEraService, type EraService, type Verdict } from "./era-service.js";
import { createEraSource, type OpenLink } from "./era-source.js";
import type { Link } from "./link.js";
import type { Look, ProbeFinding } from "./probe.js";
import { hintsAtOtherEra, isUnauthorized, isUntouched } from "./stale-signs.js";

/** A verdict that seems wrong is looked at again no more often than this. */
const RECHECK_MS = 30_000;

/** How a modern upstream begins. */
export interface ModernStart {
  readonly revision: ModernRevision;
  /** The discover result that proved the era, where there was one. */
  readonly discovered: JsonText | undefined;
  /** Opens a conversation. Rejects with BridgeError. */
  readonly openLink: () => Promise<Link>;
}

export interface EraKeeperOptions<S extends Service> {
  readonly target: Target;
  readonly identity: JsonText;
  readonly probeMode: "in-place" | "sibling";
  readonly pin: EraPin | undefined;
  readonly legacy: (openLink: OpenLink) => S;
  readonly modern: (start: ModernStart) => S;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

/** Keeps the one verdict on a server, and the service that goes with it. */
export interface EraKeeper<S extends Service> {
  readonly current: EraService<S> | undefined;
  /** The service to use, a promise only where it must be found. Throws or rejects with BridgeError. */
  ready(caller: Caller, signal: AbortSignal): Promise<EraService<S>> | EraService<S>;
  /** Takes note of how a request on a service went. */
  served(by: EraService<S>, failed: Failed | undefined): void;
  /** What has to serve a failed request instead; undefined when the failure stands. */
  replacement(
    failing: EraService<S>,
    failed: Failed,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<EraService<S> | undefined>;
  /** Looks with patience, for nobody. Rejects with BridgeError. */
  warm(): Promise<void>;
  close(): Promise<void>;
}

export function createEraKeeper<S extends Service>(options: EraKeeperOptions<S>): EraKeeper<S> {
  const { target, pin, clock, journal, limits } = options;
  const { name } = target;
  let current: EraService<S> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let rechecking: Promise<void> | undefined;
  let closed = false;
  const retired = new Set<EraService<S>>();

  const source = createEraSource({
    ...options,
    pinned: pin !== undefined,
    current: () => current?.verdict,
    proved(finding) {
      if (closed) return;
      if (finding.type === "legacy" && current?.verdict.era === "legacy") {
        current.renew(finding.reason, clock.now());
        prove(current);
      } else settle({ finding, proven: true, silent: false });
    },
    moved,
  });

  const retire = (service: EraService<S>): void => {
    if (current === service) current = undefined;
    retired.add(service);
    void service.ended.finally(() => retired.delete(service));
    service.retire();
  };

  const prove = (service: EraService<S>): void => {
    if (service.proven) return;
    service.prove();
    const { era, reason, revision } = service.verdict;
    journal.info("era-verdict", { upstream: name, era, reason, revision });
  };

  const install = (verdict: Verdict, service: S, proven: boolean): EraService<S> => {
    const before = current;
    const next = createEraService(verdict, service);
    current = next;
    if (proven) prove(next);
    if (before !== undefined) retire(before);
    return next;
  };

  function settle({ finding, proven }: Look): EraService<S> {
    const at = clock.now();
    switch (finding.type) {
      case "legacy": {
        const verdict: Verdict = { era: "legacy", revision: undefined, reason: finding.reason, at };
        return install(verdict, options.legacy(source.openLegacy), proven);
      }
      case "modern": {
        const { revision, reason, discovered } = finding;
        const service = options.modern({ revision, discovered, openLink: source.openModern });
        return install({ era: "modern", revision, reason, at }, service, proven);
      }
      default:
        throw toError(finding, name);
    }
  }

  const settlePinned = ({ era, revision }: EraPin): EraService<S> => {
    const verdict: Verdict = { era, revision, reason: "pinned", at: clock.now() };
    const openLink = source.openModern;
    const spoken = isModernRevision(revision) ? revision : NEWEST_MODERN;
    return install(
      verdict,
      era === "legacy"
        ? options.legacy(source.openLegacy)
        : options.modern({ revision: spoken, discovered: undefined, openLink }),
      true,
    );
  };

  /** Takes a second look; true when the era is another one, which then takes the place of the first. */
  function moved(look: Look): boolean {
    const { finding } = look;
    if (finding.type !== "legacy" && finding.type !== "modern") throw toError(finding, name);
    if (current?.verdict.era === finding.type) {
      current.renew(finding.reason, clock.now());
      return false;
    }
    settle(look);
    return true;
  }

  const find = async (caller: Caller, signal: AbortSignal): Promise<EraService<S>> => {
    if (pin !== undefined) return settlePinned(pin);
    lookedAt = clock.now();
    const look = await untilAborted(source.look(caller), signal);
    if (closed) throw new BridgeError("closed", "the bridge is shutting down");
    return current ?? settle(look);
  };

  /** Looks again. Never rejects. */
  const recheck = (caller: Caller): Promise<void> => {
    lookedAt = clock.now();
    rechecking ??= source
      .look(caller)
      .then((look) => {
        if (!closed) moved(look);
      })
      .catch(() => journal.debug("era-recheck-failed", { upstream: name }))
      .finally(() => {
        rechecking = undefined;
      });
    return rechecking;
  };

  /** Looks again at a server whose failures another era, or its absence, would explain. */
  const doubt = async (failing: EraService<S>, failed: Failed, caller: Caller): Promise<void> => {
    const hinted = hintsAtOtherEra(failing.verdict.era, failed);
    if (target.type === "http") {
      if (hinted || failed.cause === "unavailable") await recheck(caller);
    } else if (hinted && source.doubt()) {
      retire(failing);
    }
  };

  return {
    get current() {
      return current;
    },

    ready(caller, signal) {
      if (closed) throw new BridgeError("closed", "the bridge is shutting down");
      if (current === undefined) return find(caller, signal);
      const expired = clock.now() - current.verdict.at >= limits.verdictHorizonMs;
      if (expired && pin === undefined && target.type === "http") void recheck(caller);
      return current;
    },

    served(by, failed) {
      if (failed === undefined || failed.cause === "peer") prove(by);
    },

    async replacement(failing, failed, caller, signal) {
      if (closed || pin !== undefined || failed.cause === "cancelled") return undefined;
      if (isUnauthorized(failed)) return undefined;
      if (current === failing && !failing.proven) {
        // Nothing was proved and nothing works: the next caller starts from the beginning.
        if (failed.cause === "unavailable" || failed.cause === "timeout") retire(failing);
        return undefined;
      }
      if (current === failing && clock.now() - lookedAt >= RECHECK_MS) {
        await doubt(failing, failed, caller);
      }
      if (current === failing || !isUntouched(failed)) return undefined;
      return current ?? find(caller, signal);
    },

    async warm() {
      if (pin !== undefined) {
        await source.prepare();
        return;
      }
      const look = await source.warm();
      if (look !== undefined && current === undefined && !closed) settle(look);
    },

    async close() {
      closed = true;
      if (current !== undefined) retire(current);
      // Not once they are idle: a request that hangs must not keep the bridge.
      await Promise.all([source.close(), ...[...retired].map((service) => service.close())]);
    },
  };
}

function toError(
  finding: Exclude<ProbeFinding, { type: "legacy" | "modern" }>,
  name: string,
): BridgeError {
  switch (finding.type) {
    case "incompatible":
      return new BridgeError(
        "not-bridgeable",
        `${name} speaks ${finding.supported.slice(0, 5).join(", ")}, which this bridge does not`,
        { data: { supported: finding.supported } },
      );
    case "unauthorized":
      return new BridgeError("upstream-unauthorized", `${name} refuses the credentials`, {
        challenge: finding.challenge,
      });
    case "down":
      return new BridgeError(
        "upstream-unavailable",
        `${name} cannot be reached: ${finding.detail}`,
      );
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new BridgeError("cancelled", "the caller took it back"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.finally(() => signal.removeEventListener("abort", abort)).then(resolve, reject);
  });
}
