import { expect, it } from "vitest";
import { operatorHeaders } from "../../src/upstream/operator-headers.js";

it("what the operator adds goes along, what is computed does not", () => {
  const computed = [
    "accept",
    "accept-encoding",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-param-region",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
    "transfer-encoding",
  ];
  const own = { authorization: "Bearer x", "x-api-key": "k", "mcp-vendor": "v", cookie: "c=1" };
  const spoofed = Object.fromEntries(computed.map((name) => [name, "spoofed"]));
  expect(operatorHeaders({ ...spoofed, ...own })).toEqual(own);
});

it("the same headers are looked through once", () => {
  const configured = { "x-a": "1" };
  expect(operatorHeaders(configured)).toBe(operatorHeaders(configured));
});
