import { hostname, networkInterfaces } from "node:os";
import { type Authenticator, toPrincipal } from "../../src/index.js";
import { createBearerAuthenticator } from "../http/bearer.js";
import { isLoopback, type ListenSettings } from "./settings.js";
import { BindRefused } from "./usage-error.js";

/** Throws BindRefused where strangers could call without a token. */
export function checkListener({ host, tokens, allowAnonymous }: ListenSettings): void {
  if (isLoopback(host) || tokens.length > 0 || allowAnonymous) return;
  throw new BindRefused(
    `${host} is reached by other machines, and nobody would ask who calls`,
    "set --token, or --allow-anonymous if something in front of it asks",
  );
}

/** Who may call; undefined where only this machine can, and every caller is its user. */
export function authenticatorOf(listen: ListenSettings): Authenticator | undefined {
  const { host, tokens, allowAnonymous } = listen;
  if (tokens.length > 0) {
    const known = new Map(tokens.map(({ secret, principal }) => [secret, principal]));
    return createBearerAuthenticator({ tokens: known, allowAnonymous });
  }
  if (isLoopback(host)) return undefined;
  const anonymous = {
    type: "accepted",
    principal: toPrincipal("anonymous"),
    anonymous: true,
  } as const;
  return () => anonymous;
}

/**
 * Host headers to accept. The check keeps a page from reaching the endpoint under a rebound name, with
 * the user's rights; where every caller must have a token, a page has none and any name will do.
 */
export function allowedHostsOf(listen: ListenSettings): readonly string[] {
  const { host, tokens, allowAnonymous, allowedHosts } = listen;
  if (isLoopback(host)) return allowedHosts;
  if (tokens.length > 0 && !allowAnonymous) return ["*"];
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const names = addresses.map(({ address, family }) =>
    family === "IPv6" ? `[${address.replace(/%.*/, "")}]` : address,
  );
  return [host, hostname(), ...names, ...allowedHosts];
}
