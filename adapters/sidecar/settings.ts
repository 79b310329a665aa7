import type { BridgeOptions, Limits } from "../../src/index.js";

/** A server that is started as a child process and spoken to over its stdin and stdout. */
export interface CommandConnection {
  readonly type: "command";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables of the child beyond the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Hands the whole environment of this process on. */
  readonly inheritEnv: boolean;
  readonly cwd: string | undefined;
}

/** A server behind an http(s) or ws(s) URL. */
export interface UrlConnection {
  readonly type: "url";
  readonly url: string;
  /** Sent with every request upstream; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export type Connection = CommandConnection | UrlConnection;

export type SessionPolicy = NonNullable<BridgeOptions["sessionPolicy"]>;

export const PROBES = ["in-place", "sibling", "none"] as const;
export const FRONT_ERAS = ["auto", "legacy", "modern"] as const;
export const ATTRIBUTIONS = ["adaptive", "exclusive"] as const;
export const ERA_PATTERN = /^(legacy|modern|\d{4}-\d{2}-\d{2})$/;

/** Undefined for anything but `shared`, `exclusive`, `pool:N` and `per-call`. */
export function toSessionPolicy(text: string): SessionPolicy | undefined {
  return /^(shared|exclusive|per-call|pool:[1-9]\d*)$/.test(text)
    ? (text as SessionPolicy)
    : undefined;
}

/** How a server is bridged. */
export interface BridgingSettings {
  /** `legacy`, `modern` or a revision: what the operator knows; undefined: find out. */
  readonly upstreamEra: string | undefined;
  readonly probe: (typeof PROBES)[number];
  readonly frontEra: (typeof FRONT_ERAS)[number];
  /** `shared`, `exclusive`, `pool:N` or `per-call`; undefined: what suits the listener. */
  readonly sessionPolicy: SessionPolicy | undefined;
  readonly attribution: (typeof ATTRIBUTIONS)[number];
  readonly forwardUnknown: boolean;
  /** Inbound credentials go upstream and its challenges come back: both are one resource. */
  readonly sameResource: boolean;
  /** Starts or reaches the server at the first request instead of at once. */
  readonly lazy: boolean;
  readonly limits: Partial<Limits>;
}

export const DEFAULT_BRIDGING: BridgingSettings = {
  upstreamEra: undefined,
  probe: "in-place",
  frontEra: "auto",
  sessionPolicy: undefined,
  attribution: "adaptive",
  forwardUnknown: true,
  sameResource: false,
  lazy: false,
  limits: {},
};

/** One server and how it is bridged. */
export interface UpstreamSettings extends BridgingSettings {
  /** Unique among the upstreams of a sidecar; part of log lines. */
  readonly name: string;
  readonly connection: Connection;
}

/** A bearer token and the principal it stands for. */
export interface TokenSettings {
  readonly principal: string;
  readonly secret: string;
}

/** Where clients come in. */
export interface ListenSettings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tokens: readonly TokenSettings[];
  /** Serves callers without a token on an address that other machines reach. */
  readonly allowAnonymous: boolean;
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

export const DEFAULT_LISTEN: ListenSettings = {
  host: "127.0.0.1",
  port: 8_080,
  tokens: [],
  allowAnonymous: false,
  allowedOrigins: [],
  allowedHosts: [],
};

/** An upstream and the path it is served at. */
export interface Mount {
  readonly path: string;
  readonly upstream: UpstreamSettings;
}

export interface SidecarSettings {
  readonly listen: ListenSettings;
  readonly mounts: readonly Mount[];
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
