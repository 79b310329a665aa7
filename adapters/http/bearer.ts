import { createHash, timingSafeEqual } from "node:crypto";
import { type Authentication, type Authenticator, toPrincipal } from "../../src/index.js";

export interface BearerOptions {
  /** Token to the name of the principal who holds it; several tokens may name one principal. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Also lets in requests without credentials, as callers that share nothing with anyone. */
  readonly allowAnonymous?: boolean | undefined;
}

/**
 * Knows callers by a static bearer token (RFC 6750). A wrong token is refused even where anonymous
 * callers are let in. The time it takes says nothing about how much of a token was right.
 */
export function createBearerAuthenticator(options: BearerOptions): Authenticator {
  const known = [...options.tokens].map(([token, name]) => ({
    digest: digestOf(token),
    accepted: { type: "accepted", principal: toPrincipal(name), anonymous: false } as const,
  }));
  const anonymous: Authentication = {
    type: "accepted",
    principal: toPrincipal("anonymous"),
    anonymous: true,
  };

  return (headers) => {
    const { authorization } = headers;
    if (authorization === undefined) {
      return options.allowAnonymous === true ? anonymous : refuse("no credentials", "");
    }
    const token = /^bearer +([^\s,]+) *$/i.exec(authorization)?.[1];
    if (token === undefined) return refuse("not a bearer token", ', error="invalid_request"');
    const digest = digestOf(token);
    let found: Authentication | undefined;
    for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.accepted;
    return found ?? refuse("unknown token", ', error="invalid_token"');
  };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

function refuse(reason: string, detail: string): Authentication {
  const headers = { "www-authenticate": `Bearer realm="erabridge"${detail}` };
  return { type: "refused", status: 401, headers, reason };
}
