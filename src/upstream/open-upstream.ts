import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import type { Era, ModernRevision } from "../model/era.js";
import { isModernRevision, NEWEST_MODERN } from "../model/era.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Failed, Outcome } from "../model/operation.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import type { Target } from "../ports/target.js";
import { toEraPin } from "./era-pin.js";
import { createEraSource, type OpenLink } from "./era-source.js";
import type { Look, ProbeFinding } from "./probe.js";
import { hintsAtOtherEra, isUntouched } from "./stale-signs.js";

/** A verdict that seems wrong is looked at again no more often than this. */
const RECHECK_MS = 30_000;

/** What the bridge believes of a server, since when and why. */
export interface Verdict {
  readonly era: Era;
  /** The modern revision to speak, or the one the operator pinned. */
  readonly revision: string | undefined;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** How a modern upstream begins. */
export interface ModernStart {
  readonly revision: ModernRevision;
  /** The discover result that proved the era, where there was one. */
  readonly discovered: JsonText | undefined;
  /** Opens a conversation over a channel; undefined where the target is HTTP. */
  readonly openLink: OpenLink | undefined;
}

export interface UpstreamOptions {
  readonly target: Target;
  /** The bridge's own `Implementation` object. */
  readonly identity: JsonText;
  /** `none` needs `upstreamEra`. */
  readonly probe: "in-place" | "sibling" | "none";
  /** `legacy`, `modern` or a revision: nothing is asked, and nothing is doubted. */
  readonly upstreamEra?: string | undefined;
  /** Builds the service over a stateful server; `openLink` gives conversations before `initialize`. */
  readonly legacy: (openLink: OpenLink) => Service;
  /** Builds the service over a stateless server. */
  readonly modern: (start: ModernStart) => Service;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly journal: Journal;
}

export interface Upstream extends Service {
  /**
   * Starts the server and looks at it before anyone asks. Resolves when its era is known, or when that
   * takes long; never rejects, for the first caller is told what is wrong.
   */
  warm(): Promise<void>;
  /** Undefined while nothing is known. */
  verdict(): Verdict | undefined;
}

/** The service for one verdict. */
interface Settled {
  verdict: Verdict;
  readonly service: Service;
  /** The server has said so, or has served a request. */
  proven: boolean;
  /** Requests under way. */
  running: number;
  retired: boolean;
}

/**
 * A server of either era as one service. The era is found with the first caller or by `warm`, believed
 * for `Limits.verdictHorizonMs`, and looked at again when requests fail in a way that another era would
 * explain; a request is repeated over the other era only where the server cannot have touched it.
 * Outages and refused credentials are never verdicts.
 */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { target, clock, journal, limits } = options;
  const { name } = target;
  const pin = options.upstreamEra === undefined ? undefined : toEraPin(options.upstreamEra);
  if (pin === undefined && options.probe === "none") {
    throw new BridgeError("not-bridgeable", `${name}: without a probe its era must be given`);
  }
  let current: Settled | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let rechecking: Promise<void> | undefined;
  let closed = false;
  const endings = new Set<Promise<void>>();

  const source = createEraSource({
    ...options,
    probeMode: options.probe === "sibling" ? "sibling" : "in-place",
    pinned: pin !== undefined,
    current: () => current?.verdict,
    proved: (finding) => {
      if (closed) return;
      if (finding.type === "legacy" && current?.verdict.era === "legacy") confirm(current, finding);
      else settle({ finding, proven: true, silent: false });
    },
    moved: settleIfMoved,
  });

  const end = (settled: Settled): void => {
    const ending = settled.service.close().finally(() => endings.delete(ending));
    endings.add(ending);
  };

  const retire = (settled: Settled | undefined): void => {
    if (settled === undefined || settled.retired) return;
    settled.retired = true;
    if (settled.running === 0) end(settled);
  };

  const announce = ({ era, reason, revision }: Verdict): void =>
    journal.info("era-verdict", { upstream: name, era, reason, revision });

  const confirm = (settled: Settled, { reason }: { readonly reason: string }): void => {
    settled.verdict = { ...settled.verdict, reason, at: clock.now() };
    if (!settled.proven) announce(settled.verdict);
    settled.proven = true;
  };

  const install = (verdict: Verdict, service: Service, proven: boolean): Settled => {
    const before = current;
    current = { verdict, service, proven, running: 0, retired: false };
    if (proven) announce(verdict);
    retire(before);
    return current;
  };

  function settle({ finding, proven }: Look): Settled {
    const at = clock.now();
    switch (finding.type) {
      case "legacy": {
        const verdict: Verdict = { era: "legacy", revision: undefined, reason: finding.reason, at };
        return install(verdict, options.legacy(source.openLink("legacy")), proven);
      }
      case "modern": {
        const { revision, reason, discovered } = finding;
        const openLink = target.type === "channel" ? source.openLink("modern") : undefined;
        const service = options.modern({ revision, discovered, openLink });
        return install({ era: "modern", revision, reason, at }, service, proven);
      }
      default:
        throw toError(finding, name);
    }
  }

  /** True when the finding is of another era than the present verdict, which it then replaces. */
  function settleIfMoved(look: Look): boolean {
    const { finding } = look;
    if (finding.type !== "legacy" && finding.type !== "modern") throw toError(finding, name);
    if (current === undefined || current.verdict.era !== finding.type) {
      settle(look);
      return true;
    }
    current.verdict = { ...current.verdict, reason: finding.reason, at: clock.now() };
    return false;
  }

  const settlePinned = ({ era, revision }: NonNullable<typeof pin>): Settled => {
    const verdict: Verdict = { era, revision, reason: "pinned", at: clock.now() };
    const openLink = source.openLink(era);
    const service =
      era === "legacy"
        ? options.legacy(openLink)
        : options.modern({
            revision: isModernRevision(revision) ? revision : NEWEST_MODERN,
            discovered: undefined,
            openLink: target.type === "channel" ? openLink : undefined,
          });
    return install(verdict, service, true);
  };

  const settledFor = async (caller: Caller, signal: AbortSignal): Promise<Settled> => {
    if (pin !== undefined) return settlePinned(pin);
    lookedAt = clock.now();
    const look = await untilAborted(source.look(caller), signal);
    if (closed) throw new BridgeError("closed", "the bridge is shutting down");
    return current ?? settle(look);
  };

  /** Looks again; a verdict of the other era takes the place of the present one. Never rejects. */
  const recheck = (caller: Caller): Promise<void> => {
    lookedAt = clock.now();
    rechecking ??= source
      .look(caller)
      .then((look) => void settleIfMoved(look))
      .catch((error: unknown) => journal.debug("era-recheck-failed", { upstream: name, error }))
      .finally(() => {
        rechecking = undefined;
      });
    return rechecking;
  };

  const ready = (caller: Caller, signal: AbortSignal): Settled | Promise<Settled> => {
    if (closed) throw new BridgeError("closed", "the bridge is shutting down");
    if (current === undefined) return settledFor(caller, signal);
    const expired = clock.now() - current.verdict.at >= limits.verdictHorizonMs;
    if (expired && pin === undefined && target.type === "http" && rechecking === undefined) {
      void recheck(caller);
    }
    return current;
  };

  /** What takes the place of a service that failed; undefined when the failure stands. */
  const replacement = async (
    failing: Settled,
    failed: Failed,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Settled | undefined> => {
    if (closed || pin !== undefined || failed.cause === "cancelled") return undefined;
    if (current === failing && !failing.proven) {
      // Nothing was proved and nothing works: the next caller starts from the beginning.
      if (failed.cause === "unavailable" || failed.cause === "timeout") {
        current = undefined;
        retire(failing);
      }
      return undefined;
    }
    if (current === failing && clock.now() - lookedAt >= RECHECK_MS) {
      await doubt(failing, failed, caller);
    }
    if (current === failing || !isUntouched(failed)) return undefined;
    return current ?? settledFor(caller, signal);
  };

  /** Looks again at a server whose failures another era, or its absence, would explain. */
  const doubt = async (failing: Settled, failed: Failed, caller: Caller): Promise<void> => {
    const hinted = hintsAtOtherEra(failing.verdict.era, failed);
    if (target.type === "http") {
      if (hinted || failed.cause === "unavailable") await recheck(caller);
    } else if (hinted && source.doubt()) {
      lookedAt = clock.now();
      current = undefined;
      retire(failing);
    }
  };

  /** One request on the present service, and once more where another era has to serve it. */
  const attempt = async <T>(
    caller: Caller,
    signal: AbortSignal,
    act: (service: Service) => Promise<T>,
    failureOf: (value: T) => Failed | undefined,
  ): Promise<T> => {
    const settled = await ready(caller, signal);
    const first = await use(settled, act, failureOf);
    if (first.failed === undefined || signal.aborted) return first.give();
    const other = await replacement(settled, first.failed, caller, signal);
    return other === undefined ? first.give() : (await use(other, act, failureOf)).give();
  };

  const use = async <T>(
    settled: Settled,
    act: (service: Service) => Promise<T>,
    failureOf: (value: T) => Failed | undefined,
  ): Promise<{ readonly failed: Failed | undefined; give(): T }> => {
    settled.running += 1;
    try {
      const value = await act(settled.service);
      const failed = failureOf(value);
      if (!settled.proven && (failed === undefined || failed.cause === "peer")) {
        confirm(settled, settled.verdict);
      }
      return { failed, give: () => value };
    } catch (error) {
      return {
        failed: toFailed(error),
        give() {
          throw error;
        },
      };
    } finally {
      settled.running -= 1;
      if (settled.retired && settled.running === 0) end(settled);
    }
  };

  return {
    describe: (caller, signal) =>
      attempt(
        caller,
        signal,
        (service) => service.describe(caller, signal),
        () => undefined,
      ),
    relay: (operation, notices, signal) =>
      attempt(
        operation.caller,
        signal,
        (service) => service.relay(operation, notices, signal),
        failureIn,
      ).catch(toFailed),
    watch: (interest, caller, notices, signal) =>
      attempt(
        caller,
        signal,
        (service) => service.watch(interest, caller, notices, signal),
        () => undefined,
      ),
    notify: (method, params, caller) => current?.service.notify(method, params, caller),
    async warm() {
      try {
        if (pin !== undefined) await source.prepare();
        else {
          const look = await source.warm();
          if (look !== undefined && current === undefined && !closed) settle(look);
        }
      } catch (error) {
        journal.debug("warm-up-failed", { upstream: name, error });
      }
    },
    verdict: () => current?.verdict,
    async close() {
      closed = true;
      retire(current);
      current = undefined;
      await Promise.all([source.close(), ...endings]);
    },
  };
}

function failureIn(outcome: Outcome): Failed | undefined {
  return outcome.type === "failed" ? outcome : undefined;
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
      return new BridgeError("upstream-unauthorized", `${name} refuses the bridge's credentials`);
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
