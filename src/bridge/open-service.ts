import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import type { Sealer } from "../ports/sealer.js";
import type { Target } from "../ports/target.js";
import type { AttributionPolicy } from "../upstream/attribution.js";
import type { ModernStart } from "../upstream/era-keeper.js";
import type { OpenLink } from "../upstream/era-source.js";
import { createLegacyUpstream } from "../upstream/legacy-upstream.js";
import { createModernUpstream } from "../upstream/modern-upstream.js";
import { createUpstream, type Upstream } from "../upstream/open-upstream.js";
import type { SessionPolicy } from "../upstream/session-group.js";

export interface OpenServiceOptions {
  readonly target: Target;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  readonly journal: Journal;
  readonly limits: Limits;
  /** The bridge's own `Implementation` object. */
  readonly identity: JsonText;
  readonly upstreamEra?: string;
  readonly probe?: "in-place" | "sibling" | "none";
  readonly sessionPolicy?: SessionPolicy;
  readonly attribution?: AttributionPolicy;
  readonly staticRoots?: JsonText;
}

/** A server as a service, with what the bridge needs beside it. */
interface EraUpstream extends Service {
  /** Opens conversations of a session's own with the server; undefined where it has no sessions. */
  readonly openLink: OpenLink | undefined;
  stats(): object;
}

/** The service over the server, whatever its era. */
export type OpenService = Upstream<EraUpstream>;

/** Builds the upstream side of a bridge; nothing is opened yet. */
export function openService(options: OpenServiceOptions): OpenService {
  const { target, journal, limits, clock } = options;
  const ports = { name: target.name, clock, journal, limits };

  const legacy = (openLink: OpenLink): EraUpstream => {
    const policy = options.sessionPolicy ?? "shared";
    const attribution = options.attribution ?? "adaptive";
    const service = createLegacyUpstream({ ...options, ...ports, openLink, policy, attribution });
    return { ...service, openLink };
  };

  const modern = ({ openLink }: ModernStart): EraUpstream => {
    const headers = target.type === "http" ? (caller: Caller) => target.headers(caller) : undefined;
    return { ...createModernUpstream({ ...ports, openLink, headers }), openLink: undefined };
  };

  return createUpstream({
    ...ports,
    target,
    identity: options.identity,
    probe: options.probe ?? "in-place",
    upstreamEra: options.upstreamEra,
    legacy,
    modern,
  });
}
