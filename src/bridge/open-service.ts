import type { JsonText } from "../jsonrpc/json-text.js";
import type { Limits } from "../model/limits.js";
import type { Service } from "../model/service.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { Journal } from "../ports/journal.js";
import type { Sealer } from "../ports/sealer.js";
import type { Target } from "../ports/target.js";
import type { AttributionPolicy } from "../upstream/attribution.js";
import { createChannelLink } from "../upstream/channel-link.js";
import { createLegacyHttpLink } from "../upstream/legacy-http-link.js";
import { createLegacyUpstream } from "../upstream/legacy-upstream.js";
import type { SessionPolicy } from "../upstream/session-group.js";

export interface OpenServiceOptions {
  readonly target: Target;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly identity: JsonText;
  readonly upstreamEra?: string;
  readonly probe?: "in-place" | "sibling" | "none";
  readonly sessionPolicy?: SessionPolicy;
  readonly attribution?: AttributionPolicy;
  readonly staticRoots?: JsonText;
}

export interface OpenService extends Service {
  stats(): Record<string, number>;
}

export function openService(options: OpenServiceOptions): OpenService {
  const { target, clock, journal, limits } = options;
  const { name } = target;
  const upstream = createLegacyUpstream({
    ...options,
    name,
    policy: options.sessionPolicy ?? "shared",
    attribution: options.attribution ?? "adaptive",
    openLink: async (caller) =>
      target.type === "channel"
        ? createChannelLink({ channel: await target.open(), name, journal })
        : createLegacyHttpLink({
            url: target.url,
            name,
            exchange: target.exchange,
            headers: () => target.headers(caller),
            limits,
            clock,
            journal,
          }),
  });
  return { ...upstream, stats: () => ({ ...upstream.stats() }) };
}
