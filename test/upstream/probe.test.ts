import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/index.js";
import { parseMessage } from "../../src/jsonrpc/message.js";
import { createLegacyHttpLink } from "../../src/upstream/legacy-http-link.js";
import {
  judgeAnswer,
  judgeHttpLoss,
  type ProbeFinding,
  probeRequest,
} from "../../src/upstream/probe.js";
import { createManualClock } from "../support/manual-clock.js";
import { createFakeServer, createRecordingJournal } from "./fakes.js";

function answer(member: string): ProbeFinding {
  const message = parseMessage(`{"jsonrpc":"2.0","id":1,${member}}`);
  if (message.type !== "response" && message.type !== "error") throw new Error(message.type);
  return judgeAnswer(message);
}

/** The finding of a probe over HTTP that is answered like this. */
function http(status: number, body: string, contentType = "application/json"): ProbeFinding {
  const server = createFakeServer();
  const link = createLegacyHttpLink({
    url: "http://server.test/mcp",
    name: "server",
    exchange: server.exchange,
    headers: () => ({}),
    limits: DEFAULT_LIMITS,
    clock: createManualClock(),
    journal: createRecordingJournal(),
  });
  let finding: ProbeFinding | undefined;
  link.start({
    message(message) {
      if (message.type === "response" || message.type === "error") finding = judgeAnswer(message);
    },
    lost: (_, loss) => {
      finding = judgeHttpLoss(loss);
    },
    closed: () => undefined,
  });
  link.request(probeRequest('{"name":"bridge","version":"1"}'));
  server.call(0).answers(status, body, { "content-type": contentType });
  if (finding === undefined) throw new Error("no finding");
  return finding;
}

describe("the probe", () => {
  it("is server/discover with the whole envelope, in body and headers", () => {
    const { id, text, headers } = probeRequest('{"name":"bridge","version":"1"}');
    expect(JSON.parse(text)).toEqual({
      jsonrpc: "2.0",
      id,
      method: "server/discover",
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "bridge", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
    expect(headers).toEqual({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
    });
  });

  it("finds a modern server by its discover result", () => {
    const result =
      '{"resultType":"complete","supportedVersions":["2027-01-01","2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}';
    expect(answer(`"result":${result}`)).toEqual({
      type: "modern",
      revision: "2026-07-28",
      reason: "answered server/discover",
      discovered: result,
    });
  });

  it("finds a modern server whose result lacks what a client can do without", () => {
    const result = '{"supportedVersions":["2026-07-28"],"capabilities":{}}';
    expect(answer(`"result":${result}`).type).toBe("modern");
  });

  it.each([
    '{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}',
    '{"code":-32021,"message":"x","data":{"requiredCapabilities":{"sampling":{}}}}',
    '{"code":-32020,"message":"Header mismatch"}',
  ])("finds a modern server by its error %s", (error) => {
    expect(answer(`"error":${error}`)).toMatchObject({ type: "modern", revision: "2026-07-28" });
  });

  it.each([
    '"error":{"code":-32601,"message":"Method not found"}',
    '"error":{"code":-32602,"message":"Invalid params"}',
    '"error":{"code":-32600,"message":"not initialized"}',
    '"error":{"code":-32000,"message":"Server not initialized"}',
    '"error":{"code":-32001,"message":"Session not found"}',
    '"error":{"code":-32022,"message":"no data"}',
    '"error":{"code":-32022,"message":"x","data":{"supported":"2026-07-28"}}',
    '"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}',
    '"error":{"code":-32021,"message":"no data"}',
    '"result":{}',
    '"result":{"protocolVersion":"2026-07-28","capabilities":{}}',
    '"result":{"supportedVersions":["2026-07-28"]}',
    '"result":{"supportedVersions":[20260728],"capabilities":{}}',
    '"result":{"supportedVersions":["2025-11-25","2025-06-18"],"capabilities":{}}',
  ])("finds a legacy server by %s", (member) => {
    expect(answer(member).type).toBe("legacy");
  });

  it("finds a server that is newer than the bridge", () => {
    const error = '{"code":-32022,"message":"x","data":{"supported":["2027-03-01"]}}';
    expect(answer(`"error":${error}`)).toEqual({ type: "incompatible", supported: ["2027-03-01"] });
  });
});

describe("the probe over HTTP", () => {
  const unknownMethod = '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}';
  const unsupported =
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"x"}}}';

  it.each([
    [200, unknownMethod, "application/json"],
    [200, unknownMethod.replace("-32601", "-32602"), "application/json"],
    [200, unknownMethod.replace("-32601", "-32600"), "application/json"],
    [200, "<html></html>", "text/html"],
    [200, "{}", "application/json"],
    [400, unknownMethod.replace("-32601", "-32000"), "application/json"],
    [400, "bad request", "text/plain"],
    [400, "", "text/plain"],
    [404, "<html></html>", "text/html"],
    [404, unknownMethod, "application/json"],
    [405, "", "text/plain"],
    [406, '{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600}}', "application/json"],
    [415, "", "text/plain"],
    [500, "Internal Server Error", "text/plain"],
    [202, "", "text/plain"],
  ])("%i %s is a legacy server", (status, body, type) => {
    expect(http(status, body, type).type).toBe("legacy");
  });

  it.each([
    [400, unsupported],
    [400, unsupported.replace("-32022", "-32020")],
    [200, unsupported],
    [404, unsupported],
  ])("%i %s is a modern server: the body counts before the status", (status, body) => {
    expect(http(status, body).type).toBe("modern");
  });

  it.each([401, 403])("%i is no verdict, whatever the body says", (status) => {
    expect(http(status, unknownMethod).type).toBe("unauthorized");
    expect(http(status, unsupported).type).toBe("unauthorized");
  });

  it.each([302, 408, 429, 502, 503, 504])("%i is no verdict", (status) => {
    expect(http(status, "<html></html>", "text/html").type).toBe("down");
  });

  it("no connection, or one that breaks, is no verdict", () => {
    expect(judgeHttpLoss({ kind: "not-sent", detail: "x" }).type).toBe("down");
    expect(judgeHttpLoss({ kind: "broken", detail: "x" }).type).toBe("down");
  });
});
