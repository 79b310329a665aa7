import { expect, test } from "vitest";
import { createOriginGuard } from "../../../src/front/http/origin-guard.js";

function judge(
  headers: { host?: string; origin?: string },
  allowedHosts: readonly string[] = [],
  allowedOrigins: readonly string[] = [],
): string {
  return createOriginGuard({ allowedHosts, allowedOrigins })(headers) ?? "passes";
}

const HOST = "Host is not allowed";
const ORIGIN = "Origin is not allowed";

test.each([
  [{}, [], "passes"],
  [{ host: "localhost" }, [], "passes"],
  [{ host: "LOCALHOST:8080" }, [], "passes"],
  [{ host: "127.0.0.1:1" }, [], "passes"],
  [{ host: "[::1]:8080" }, [], "passes"],
  [{ host: "[::1]" }, [], "passes"],
  [{ host: "localhost.evil.com" }, [], HOST],
  [{ host: "evil.com" }, [], HOST],
  [{ host: "evil.com:8080" }, [], HOST],
  [{ host: "192.168.0.7" }, [], HOST],
  [{ host: "" }, [], HOST],
  [{ host: "localhost@evil.com" }, [], HOST],
  [{ host: "bridge.example" }, ["bridge.example"], "passes"],
  [{ host: "Bridge.Example:443" }, ["bridge.example"], "passes"],
  [{ host: "bridge.example:8443" }, ["bridge.example:8443"], "passes"],
  [{ host: "bridge.example:9" }, ["bridge.example:8443"], HOST],
  [{ host: "bridge.example" }, ["bridge.example:8443"], HOST],
  [{ host: "anything" }, ["*"], "passes"],
])("with the headers %j and the hosts %j the request %s", (headers, hosts, verdict) => {
  expect(judge(headers, hosts)).toBe(verdict);
});

test.each([
  ["http://localhost:5173", [], "passes"],
  ["https://127.0.0.1", [], "passes"],
  ["http://[::1]:3000", [], "passes"],
  ["null", [], ORIGIN],
  ["", [], ORIGIN],
  ["https://evil.com", [], ORIGIN],
  ["http://localhost.evil.com", [], ORIGIN],
  ["http://localhost@evil.com", [], ORIGIN],
  ["file://localhost", [], ORIGIN],
  ["vscode-webview://localhost", [], ORIGIN],
  ["https://app.example", ["https://app.example"], "passes"],
  ["https://APP.example", ["https://app.example"], "passes"],
  ["http://app.example", ["https://app.example"], ORIGIN],
  ["https://app.example:8443", ["https://app.example"], ORIGIN],
  ["https://app.example:8443", ["app.example"], "passes"],
  ["vscode-webview://1", ["vscode-webview://1"], "passes"],
  ["null", ["https://app.example"], ORIGIN],
  ["null", ["*"], "passes"],
])("the origin %j with the allowed %j %s", (origin, allowed, verdict) => {
  expect(judge({ host: "localhost:8080", origin }, [], allowed)).toBe(verdict);
});

test("a page of the endpoint itself passes, a rebound name does not", () => {
  const own = { host: "bridge.example:8443", origin: "https://bridge.example:8443" };
  expect(judge(own, ["bridge.example"])).toBe("passes");
  expect(judge({ ...own, origin: "https://bridge.example" }, ["bridge.example"])).toBe(ORIGIN);
  const rebound = { host: "evil.com", origin: "http://evil.com" };
  expect(judge(rebound)).toBe(HOST);
  expect(judge(rebound, ["*"])).toBe(ORIGIN);
});
