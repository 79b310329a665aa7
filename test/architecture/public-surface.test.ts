import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const index = readFileSync(new URL("../../src/index.ts", import.meta.url), "utf8");

/** What embedders and adapters may rely on. A change here is a change of the package's version. */
const SURFACE: readonly string[] = [
  "BridgeError",
  "DEFAULT_LIMITS",
  "LOCAL_PRINCIPAL",
  "RULES",
  "createBridge",
  "createLineDecoder",
  "createOriginGuard",
  "onOneLine",
  "toPrincipal",
  "type Acknowledgement",
  "type Advertisement",
  "type Authentication",
  "type Authenticator",
  "type Bridge",
  "type BridgeErrorCode",
  "type BridgeOptions",
  "type Caller",
  "type Challenge",
  "type Channel",
  "type ChannelEnd",
  "type ChannelReceiver",
  "type ChannelSender",
  "type ChannelTarget",
  "type Clock",
  "type Departure",
  "type Entropy",
  "type Era",
  "type Fate",
  "type HttpCall",
  "type HttpExchange",
  "type HttpFailure",
  "type HttpHandler",
  "type HttpHeaders",
  "type HttpReply",
  "type HttpRequest",
  "type HttpSink",
  "type HttpStream",
  "type HttpTarget",
  "type Interceptor",
  "type Interest",
  "type Journal",
  "type Limits",
  "type LineDecoder",
  "type Notice",
  "type Notices",
  "type Operation",
  "type Outcome",
  "type Principal",
  "type Rule",
  "type Sealer",
  "type Service",
  "type Stop",
  "type Target",
];

it("the package exports these names and no others", () => {
  const exported = [...index.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(
    ([, all = "", names = ""]) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "")
        .map((name) => (name.startsWith("type ") ? name : `${all}${name}`)),
  );
  expect(new Set(exported)).toEqual(new Set(SURFACE));
  expect(index).not.toMatch(/export \*|export default|export (const|function|class)/);
});

it("what it exports at run time is a handful of functions and constants", async () => {
  const values = SURFACE.filter((name) => !name.startsWith("type "));
  expect(new Set(Object.keys(await import("../../src/index.js")))).toEqual(new Set(values));
});
