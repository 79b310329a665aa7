import type { HttpHeaders } from "../../ports/http.js";

export interface GuardOptions {
  /**
   * Host names this endpoint is reached by, with or without a port, besides those of this machine;
   * `*` is any, for endpoints behind a proxy that checks.
   */
  readonly allowedHosts: readonly string[];
  /** Origins (`https://app.example`) or their host names, besides those of this machine; `*` is any. */
  readonly allowedOrigins: readonly string[];
}

/** Judges `Host` and `Origin`; returns why a request is refused, or undefined. */
export type OriginGuard = (headers: HttpHeaders) => string | undefined;

const THIS_MACHINE: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Keeps pages of other sites from reaching the endpoint through a browser, by name or by DNS rebinding
 * (2026-07-28/basic/transports/streamable-http, "Security & Endpoint"). What sends neither header is no
 * browser and passes.
 */
export function createOriginGuard(options: GuardOptions): OriginGuard {
  const hosts = new Set([...THIS_MACHINE, ...options.allowedHosts].map(lowerCase));
  const origins = new Set([...THIS_MACHINE, ...options.allowedOrigins].map(lowerCase));
  const anyHost = hosts.has("*");
  const anyOrigin = origins.has("*");

  const isHost = (host: string): boolean => hosts.has(host) || hosts.has(withoutPort(host));

  const isOrigin = (origin: string, host: string | undefined): boolean => {
    if (origins.has(origin)) return true;
    if (!URL.canParse(origin)) return false;
    const url = new URL(origin);
    if (url.protocol !== "http:" && url.protocol !== "https:") return false;
    if (origins.has(url.host) || origins.has(url.hostname)) return true;
    // A page of this very endpoint. The host must be one of ours by name: a rebound name is
    // its own origin as well.
    return host === url.host && isHost(host);
  };

  return (headers) => {
    const host = headers["host"]?.toLowerCase();
    if (!anyHost && host !== undefined && !isHost(host)) return "Host is not allowed";
    const origin = headers["origin"]?.toLowerCase();
    if (origin === undefined || anyOrigin) return undefined;
    return isOrigin(origin, host) ? undefined : "Origin is not allowed";
  };
}

function withoutPort(host: string): string {
  const colon = host.lastIndexOf(":");
  if (colon === -1) return host;
  for (let i = colon + 1; i < host.length; i++) if (!isDigit(host.charCodeAt(i))) return host;
  return host.slice(0, colon);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}
