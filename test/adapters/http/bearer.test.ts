import { expect, test } from "vitest";
import { createBearerAuthenticator } from "../../../adapters/http/bearer.js";

const tokens = new Map([
  ["alice-token", "alice"],
  ["alice-other", "alice"],
  ["bob-token", "bob"],
]);
const authenticate = createBearerAuthenticator({ tokens });
const withHeader = (authorization: string) => authenticate({ authorization });

test("a known token names its principal", () => {
  const alice = { type: "accepted", principal: "alice", anonymous: false };
  expect(withHeader("Bearer alice-token")).toEqual(alice);
  expect(withHeader("bearer  alice-other ")).toEqual(alice);
  expect(withHeader("BEARER bob-token")).toEqual({ ...alice, principal: "bob" });
});

test.each([
  ["Bearer alice-toke", 'Bearer realm="erabridge", error="invalid_token"'],
  ["Bearer alice-token2", 'Bearer realm="erabridge", error="invalid_token"'],
  ["Bearer", 'Bearer realm="erabridge", error="invalid_request"'],
  ["Bearer ", 'Bearer realm="erabridge", error="invalid_request"'],
  ["Basic alice-token", 'Bearer realm="erabridge", error="invalid_request"'],
  ["Bearer alice-token bob-token", 'Bearer realm="erabridge", error="invalid_request"'],
  ["Bearer alice-token, Bearer bob-token", 'Bearer realm="erabridge", error="invalid_request"'],
])("%j is refused with a challenge", (authorization, challenge) => {
  expect(withHeader(authorization)).toMatchObject({
    type: "refused",
    status: 401,
    headers: { "www-authenticate": challenge },
  });
});

test("no credentials are a challenge without an error", () => {
  expect(authenticate({})).toMatchObject({
    type: "refused",
    status: 401,
    headers: { "www-authenticate": 'Bearer realm="erabridge"' },
  });
});

test("anonymous callers are let in only where allowed, and a wrong token never is", () => {
  const lenient = createBearerAuthenticator({ tokens, allowAnonymous: true });
  expect(lenient({})).toEqual({ type: "accepted", principal: "anonymous", anonymous: true });
  expect(lenient({ authorization: "Bearer wrong" })).toMatchObject({ type: "refused" });
});
