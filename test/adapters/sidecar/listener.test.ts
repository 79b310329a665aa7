import { describe, expect, it } from "vitest";
import {
  allowedHostsOf,
  authenticatorOf,
  checkListener,
} from "../../../adapters/sidecar/listener.js";
import { DEFAULT_LISTEN, isLoopback } from "../../../adapters/sidecar/settings.js";

const TOKENS = [{ principal: "ci", secret: "s3cret" }];

describe("a listener", () => {
  it.each(["127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]"])(
    "on %s is this machine's",
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "example.com", ""])(
    "on %j is refused without a token, unless anonymous callers are meant",
    (host) => {
      expect(() => checkListener({ ...DEFAULT_LISTEN, host })).toThrow("other machines");
      checkListener({ ...DEFAULT_LISTEN, host, tokens: TOKENS });
      checkListener({ ...DEFAULT_LISTEN, host, allowAnonymous: true });
    },
  );

  it("without tokens knows one user on this machine and strangers elsewhere", async () => {
    expect(authenticatorOf(DEFAULT_LISTEN)).toBeUndefined();
    const open = authenticatorOf({ ...DEFAULT_LISTEN, host: "0.0.0.0", allowAnonymous: true });
    expect(await open?.({})).toMatchObject({ type: "accepted", anonymous: true });
  });

  it("with tokens knows their principals and refuses everyone else, on this machine too", async () => {
    const ask = authenticatorOf({ ...DEFAULT_LISTEN, tokens: TOKENS });
    expect(await ask?.({ authorization: "Bearer s3cret" })).toMatchObject({
      type: "accepted",
      principal: "ci",
      anonymous: false,
    });
    expect(await ask?.({ authorization: "Bearer other" })).toMatchObject({ status: 401 });
    expect(await ask?.({})).toMatchObject({ status: 401 });
  });

  it("checks the Host header where a page in a browser could call with the user's rights", () => {
    expect(allowedHostsOf(DEFAULT_LISTEN)).toEqual([]);
    const open = { ...DEFAULT_LISTEN, host: "0.0.0.0" };
    expect(allowedHostsOf({ ...open, tokens: TOKENS })).toEqual(["*"]);
    const anonymous = allowedHostsOf({ ...open, allowAnonymous: true, allowedHosts: ["proxy"] });
    expect(anonymous).toContain("proxy");
    expect(anonymous).toContain("127.0.0.1");
    expect(anonymous).not.toContain("*");
  });
});
