import { describe, expect, it } from "vitest";
import { isSessionError, judgeRefusal } from "../../src/upstream/http-refusal.js";

function verdict(status: number, body: string, sentSession = true): string {
  const judged = judgeRefusal({ status, body, id: 7, sentSession });
  return "kind" in judged ? judged.kind : `delivered ${judged.id} ${judged.error}`;
}

function error(code: number, message: string, id: string | number | null = null): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

describe("a refused HTTP request that carried a session id", () => {
  it.each([
    [404, ""],
    [404, "<html><body>Not Found</body></html>"],
    [404, "session not found"],
    [404, error(-32001, "Session not found")],
    [404, error(-32001, "Session not found", 7)],
    [404, error(-32600, "Not Found: Invalid or expired session ID", "server-error")],
    [404, '{"detail":"Not Found"}'],
    [400, error(-32000, "Bad Request: No valid session ID provided")],
    [400, error(-32000, "Bad Request: Server not initialized")],
    [400, error(-32000, "Bad Request: Mcp-Session-Id header is required")],
    [400, error(-32600, "Bad Request: Missing session ID", "server-error")],
    [400, "Invalid session ID"],
    [401, "Unauthorized: Session not found"],
    [500, "unknown session"],
    [503, error(-32000, "Session expired")],
  ])("is a lost session with %i %s", (status, body) => {
    expect(verdict(status, body)).toBe("session-gone");
  });

  it.each([
    [404, -32601, "Method not found"],
    [404, -32002, "Resource not found"],
    [400, -32602, "Invalid session parameter"],
    [400, -32000, "something else"],
    [500, -32603, "the database session is closed"],
    [500, -32603, "session not found"],
  ])("is the server's own error with %i and %i %s for our id", (status, code, message) => {
    expect(verdict(status, error(code, message, 7))).toBe(
      `delivered 7 {"code":${code},"message":"${message}"}`,
    );
  });

  it("is no lost session where a failure of the server only mentions one", () => {
    expect(verdict(500, "Error: database session closed")).toBe("rejected");
    expect(verdict(502, "<html>Bad Gateway</html>")).toBe("rejected");
    expect(verdict(401, "")).toBe("unauthorized");
  });
});

describe("a refused HTTP request without a session id", () => {
  it.each([
    [401, "", "unauthorized"],
    [403, error(-32000, "forbidden", 7), "unauthorized"],
    [404, "", "rejected"],
    [404, "session not found", "rejected"],
    [413, "too large", "rejected"],
    [429, "", "rejected"],
    [503, "unknown session", "rejected"],
    [400, error(-32600, "bad", 8), "rejected"],
    [404, error(-32601, "no", 7), 'delivered 7 {"code":-32601,"message":"no"}'],
    [400, error(-32000, "no", null), 'delivered 7 {"code":-32000,"message":"no"}'],
  ])("%i %s is %s", (status, body, expected) => {
    expect(verdict(status, body, false)).toBe(expected);
  });

  it("keeps the status of what is lost", () => {
    expect(judgeRefusal({ status: 413, body: "", id: 7, sentSession: false })).toEqual({
      kind: "rejected",
      status: 413,
      detail: "the server answered with HTTP status 413",
    });
  });
});

describe("an error with success status", () => {
  it.each([
    [-32001, "Session not found", true],
    [-32600, "Invalid or expired session ID", true],
    [-32001, "Request timed out", false],
    [-32000, "Session not found", false],
    [-32603, "session not found", false],
    [-32600, "the browser session is closed", false],
  ])("%i %s: lost session %s", (code, message, expected) => {
    expect(isSessionError(JSON.stringify({ code, message }))).toBe(expected);
  });
});
