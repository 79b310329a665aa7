import { describe, expect, test } from "vitest";
import { createSealer } from "../../../adapters/system/sealer.js";
import {
  openSessionId,
  type SessionTicket,
  sealSessionId,
} from "../../../src/front/http/session-id.js";

const sealer = createSealer();
const ticket: SessionTicket = {
  instance: "one",
  nonce: "n",
  principal: 'p"\u00e9',
  anonymous: false,
  expiresAt: 1_700_000_000_000,
  handshake: {
    revision: "2025-06-18",
    capabilities: '{"elicitation":{},"experimental":{"n":1.0}}',
    identity: '{"name":"c","version":"1"}',
  },
};

describe("a session id", () => {
  test("says all that a session needs to whoever holds the key, to the character", () => {
    const id = sealSessionId(ticket, sealer);
    expect(id).toMatch(/^[\x21-\x7e]+$/);
    expect(openSessionId(id, sealer)).toEqual(ticket);
  });

  test("is another each time and says nothing to others", () => {
    expect(sealSessionId(ticket, sealer)).not.toBe(sealSessionId(ticket, sealer));
    expect(openSessionId(sealSessionId(ticket, sealer), createSealer())).toBeUndefined();
  });

  test.each([
    ["altered", (id: string) => id.slice(0, -1) + (id.endsWith("A") ? "B" : "A")],
    ["cut", (id: string) => id.slice(0, -4)],
    ["of another purpose", () => sealer.seal('{"principal":"p"}')],
    ["of no JSON at all", () => sealer.seal("legacy")],
  ])("that is %s is none", (_, change) => {
    expect(openSessionId(change(sealSessionId(ticket, sealer)), sealer)).toBeUndefined();
  });

  test("stays short enough for a header, if need be without the handshake", () => {
    const long = { ...ticket.handshake, capabilities: `{"x":"${"y".repeat(9_000)}"}` };
    const id = sealSessionId(
      { ...ticket, handshake: { ...long, revision: "2025-06-18", identity: undefined } },
      sealer,
    );
    expect(id.length).toBeLessThan(4_096);
    expect(openSessionId(id, sealer)).toEqual({ ...ticket, handshake: undefined });
  });
});
