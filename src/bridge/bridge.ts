import { createEndpoint } from "../front/http/endpoint.js";
import type { EraEndpoint } from "../front/http/inbound.js";
import { createLegacyEndpoint, type LegacyEndpoint } from "../front/http/legacy-endpoint.js";
import { createSseFace, isSsePath, type SseFace } from "../front/http/sse-face.js";
import { createInFlight } from "../front/in-flight.js";
import { createLegacyChannelFront } from "../front/legacy-channel-front.js";
import type { LegacyFrontDeps } from "../front/legacy-deps.js";
import { createModernChannelFront } from "../front/modern-channel-front.js";
import { createModernFront } from "../front/modern-front.js";
import { toOffer } from "../front/offer.js";
import { type ServedChannel, serveChannel } from "../front/opening.js";
import { createSharedSenders, ownSenders } from "../front/senders.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { toJsonText } from "../jsonrpc/json-text.js";
import { LOCAL_PRINCIPAL, type Principal } from "../model/caller.js";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.js";
import type { Interceptor } from "../model/service.js";
import type { Authenticator } from "../ports/authenticator.js";
import type { Channel } from "../ports/channel.js";
import type { Clock } from "../ports/clock.js";
import type { Entropy } from "../ports/entropy.js";
import type { HttpHandler } from "../ports/http.js";
import type { Journal } from "../ports/journal.js";
import type { Sealer } from "../ports/sealer.js";
import type { Target } from "../ports/target.js";
import type { AttributionPolicy } from "../upstream/attribution.js";
import type { SessionPolicy } from "../upstream/session-group.js";
import { createGauge } from "./gauge.js";
import { compose, withRealSignals } from "./interceptors.js";
import { createLegacySessions } from "./legacy-sessions.js";
import { openService } from "./open-service.js";
import { toSameResource } from "./same-resource.js";

export interface BridgeOptions {
  /** The server behind the bridge. */
  readonly target: Target;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  readonly journal: Journal;
  readonly limits?: Partial<Limits>;
  /** Pins the server's era or revision; without it the server is asked. */
  readonly upstreamEra?: string;
  readonly probe?: "in-place" | "sibling" | "none";
  /** Which eras clients may speak; default both. */
  readonly frontEra?: "auto" | "legacy" | "modern";
  /** How callers share the sessions of a legacy server; default `shared`, `per-call` for the anonymous. */
  readonly sessionPolicy?: SessionPolicy;
  readonly attribution?: AttributionPolicy;
  /** The `roots` array for servers that ask outside a call. */
  readonly staticRoots?: JsonText;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Default: everyone is the local user. */
  readonly authenticator?: Authenticator;
  /** Requests neither era defines go to the server; default true. */
  readonly forwardUnknown?: boolean;
  /**
   * The bridge is the server's own resource to its clients: their `Authorization` goes upstream and
   * nobody else's, each value of it is a principal, and the server's challenges come back. Only for a
   * server behind HTTP.
   */
  readonly sameResource?: boolean;
  /**
   * Wrapped around the service in this order, the first outermost. With any, the bridge keeps every
   * session itself, so that they see all there is: legacy clients get no session of their own at a
   * legacy server.
   */
  readonly interceptors?: readonly Interceptor[];
  /** What the bridge calls itself where a client says nothing. */
  readonly identity?: { readonly name: string; readonly version: string };
}

/** Who sits at the other end of a channel, for the whole conversation. */
export interface ChannelSender {
  /** Default: the local user. */
  readonly principal?: Principal | undefined;
  /** It cannot be told from others and shares nothing with anyone; default false. */
  readonly anonymous?: boolean | undefined;
  /** The `Authorization` it came with; of use only to the same resource. */
  readonly authorization?: string | undefined;
}

/** A bridge in front of one server. */
export interface Bridge {
  /** Serves a client on a channel; resolves when the conversation is over. */
  accept(channel: Channel, sender?: ChannelSender): Promise<void>;
  /** Answers HTTP requests, whatever the path; for an HTTP server of yours. */
  readonly handle: HttpHandler;
  /** Reaches the server before the first client does. Rejects with BridgeError. */
  warm(): Promise<void>;
  /** How much of what there is at the moment: sessions, calls, parked, watchers … */
  stats(): Record<string, number>;
  /** Refuses new requests, lets those in flight finish within `Limits.drainMs`. */
  drain(): Promise<void>;
  /** Ends everything; resolves when no session, child, timer or listener is left. */
  close(): Promise<void>;
}

const EVERYONE: Authenticator = () => ({
  type: "accepted",
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
});

/** Puts a bridge in front of a server. Nothing is opened before someone asks. Throws BridgeError. */
export function createBridge(options: BridgeOptions): Bridge {
  const { clock, journal, frontEra = "auto", forwardUnknown = true } = options;
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const ports = { clock, journal };
  const identity = toJsonText(options.identity ?? { name: "erabridge", version: "0.1.0" });
  const target = options.sameResource ? toSameResource(options.target) : options.target;
  const senders = options.sameResource ? createSharedSenders(options.sealer) : ownSenders;
  const upstream = openService({ ...options, target, limits, identity });
  const gauge = createGauge(clock);
  const { interceptors = [] } = options;
  const first = interceptors.length > 0 ? [withRealSignals] : [];
  const service = compose([...first, ...interceptors, gauge.interceptor])(upstream);
  const channels = new Set<ServedChannel>();
  const servesModern = frontEra !== "legacy";
  const servesLegacy = frontEra !== "modern";
  const offer = toOffer(servesLegacy, forwardUnknown);
  const channelFront = createModernFront({ ...ports, limits, service, offer });
  const legacyDeps: LegacyFrontDeps = {
    ...options,
    limits,
    service,
    forwardUnknown,
    upstreamName: options.target.name,
    inFlight: createInFlight(limits.maxInFlightPerPrincipal),
  };
  const sessions = createLegacySessions({
    ...legacyDeps,
    gauge,
    agreed: upstream.confirm,
    spawns: options.target.type === "channel" && options.target.spawns,
    async legacyLinks(caller, signal) {
      if (interceptors.length > 0) return undefined;
      try {
        return (await upstream.ready(caller, signal)).openLink;
      } catch {
        // What is wrong with the server is told by whoever asks it something.
        return undefined;
      }
    },
  });
  const openFront = sessions.open;
  const legacyEndpoint = createLegacyEndpoint({ ...legacyDeps, openFront, sealer: options.sealer });
  const sseFace = createSseFace({ ...legacyDeps, openFront });
  const endpoint = createEndpoint({
    service,
    ports,
    limits,
    forwardUnknown,
    frontEra,
    authenticator: options.authenticator ?? EVERYONE,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
    senders,
    legacy: servesLegacy ? byPath(sseFace, legacyEndpoint) : undefined,
  });
  let closing: Promise<void> | undefined;
  /** Its time runs once, however many wait for it. */
  let draining: Promise<void> | undefined;

  const finishInFlight = (): Promise<void> => {
    endpoint.close();
    channelFront.close();
    sessions.drain();
    return gauge.idle(limits.drainMs);
  };

  const closeFronts = async (graceMs: number): Promise<void> => {
    endpoint.close();
    channelFront.close();
    legacyEndpoint.close();
    sseFace.close();
    await Promise.all([...channels].map((channel) => channel.close(graceMs)));
  };

  return {
    async accept(channel, { principal = LOCAL_PRINCIPAL, anonymous = false, authorization } = {}) {
      if (closing !== undefined) {
        await channel.close();
        return;
      }
      const sender = senders({ principal, anonymous, affinity: undefined, authorization });
      const served = serveChannel({
        channel,
        modern: servesModern
          ? (outlet) => createModernChannelFront({ front: channelFront, sender, ...ports }, outlet)
          : undefined,
        legacy: servesLegacy
          ? (outlet) => createLegacyChannelFront({ clock, openFront }, sender, outlet)
          : undefined,
        limits,
        journal,
        endGraceMs: limits.eofGraceMs,
      });
      channels.add(served);
      await served.finished;
      channels.delete(served);
    },
    handle: endpoint.handle,
    warm: upstream.warm,
    stats: () => ({
      ...upstream.current()?.stats(),
      requests: gauge.open(),
      channels: channels.size,
      coupledSessions: sessions.coupled,
      frontSessions: legacyEndpoint.sessions + sseFace.sessions,
    }),
    drain() {
      draining ??= finishInFlight();
      return draining;
    },
    close() {
      closing ??= closeFronts(0).then(async () => {
        await Promise.all([sessions.close(), service.close()]);
      });
      return closing;
    },
  };
}

/** HTTP+SSE has paths of its own beside the endpoint; whatever else is legacy is Streamable HTTP. */
function byPath(sseFace: SseFace, endpoint: LegacyEndpoint): EraEndpoint {
  return (inbound) => (isSsePath(inbound.request.path) ? sseFace : endpoint).handle(inbound);
}
