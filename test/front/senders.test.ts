import { expect, it } from "vitest";
import { createSealer } from "../../adapters/system/sealer.js";
import { type Claims, createSharedSenders, ownSenders } from "../../src/front/senders.js";
import { toPrincipal } from "../../src/index.js";

const claims = (authorization: string | undefined, principal = "local"): Claims => ({
  principal: toPrincipal(principal),
  anonymous: false,
  affinity: "a",
  authorization,
});

it("credentials that are for the bridge go no further", () => {
  expect(ownSenders(claims("Bearer x"))).toEqual({
    principal: "local",
    anonymous: false,
    affinity: "a",
    authorization: undefined,
  });
});

it("every value of shared credentials is a principal of its own, and does not show in its name", () => {
  const senders = createSharedSenders(createSealer());
  const values = ["Bearer x", "Bearer y", "bearer x", "Bearer x ", "Basic x"];
  const made = values.map((value) => senders(claims(value)));
  expect(new Set(made.map(({ principal }) => principal)).size).toBe(values.length);
  expect(made.map(({ authorization }) => authorization)).toEqual(values);
  for (const sender of made) {
    expect(sender).toMatchObject({ anonymous: false, affinity: "a" });
    expect(sender.principal).not.toMatch(/bearer|basic/i);
  }
  expect(senders(claims("Bearer x"))).toEqual(made[0]);
  expect(senders(claims("Bearer x", "other")).principal).not.toBe(made[0]?.principal);
});

it("replicas that share a key agree on who somebody is, others do not", () => {
  const named = (secret: number) => {
    const sealer = createSealer({ secret: new Uint8Array(32).fill(secret) });
    return createSharedSenders(sealer)(claims("Bearer x")).principal;
  };
  expect(named(1)).toBe(named(1));
  expect(named(1)).not.toBe(named(2));
});

it.each([undefined, ""])(
  "who sends no shared credentials (%j) is nobody in particular",
  (value) => {
    const senders = createSharedSenders(createSealer());
    expect(senders(claims(value))).toMatchObject({ anonymous: true, authorization: undefined });
  },
);

it("who is let in as a stranger is known by the credentials he brings", () => {
  const senders = createSharedSenders(createSealer());
  expect(senders({ ...claims("Bearer x", "anonymous"), anonymous: true }).anonymous).toBe(false);
});
