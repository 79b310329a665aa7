import { describe, expect, it } from "vitest";
import type { ServerRecord } from "./catalogue.js";
import type { Closing, Reply } from "./client.js";
import { compareRuns } from "./compare.js";
import type { Json, JsonObject } from "./json.js";
import type { Observation } from "./observe.js";

const RECORD: ServerRecord = {
  package: "a-server",
  version: "1.0.0",
  runtime: "node",
  bin: "server.js",
  era: "legacy",
  revision: "2025-11-25",
  lists: { tools: { count: 1 } },
  calls: [
    { name: "now", arguments: {}, shape: {}, digest: "", stable: false },
    { name: "echo", arguments: {}, shape: {}, digest: "", stable: true },
  ],
};
const CLOSING: Closing = {
  code: 0,
  by: "end of input",
  ms: 1,
  leftovers: [],
  offences: [],
  complaints: "",
};
const META = { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } };
const VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const HINTS = { resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: META };

const said = (text: string, more: JsonObject = {}): Reply => ({
  result: { content: [{ type: "text", text }], ...more },
});
const STAMPED = { resultType: "complete", _meta: META };

function direct(tool: Json, calls: readonly Reply[]): Observation {
  const opening = {
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, tasks: { list: {} } },
      serverInfo: { name: "s", version: "1" },
    },
  };
  return {
    opening,
    lists: { tools: { items: [tool], pages: [{}] } },
    calls,
    further: [],
    closing: CLOSING,
  };
}

function bridged(tool: Json, calls: readonly Reply[], closing = CLOSING): Observation {
  const opening = {
    result: { supportedVersions: VERSIONS, capabilities: { tools: {} }, ...HINTS },
  };
  return {
    opening,
    lists: { tools: { items: [tool], pages: [HINTS] } },
    calls,
    further: [],
    closing,
  };
}

const TOOL = { name: "echo", inputSchema: { type: "object" } };
const faults = (one: Observation, other: Observation, again?: Observation) =>
  compareRuns(RECORD, { direct: one, bridged: other, ...(again ? { again } : {}) }).filter(
    ({ kind }) => kind === "fault",
  );

describe("a run through the bridge", () => {
  const calls = [said("12:00"), said("hello")];
  const good = [said("12:01", STAMPED), said("hello", STAMPED)];

  it("is explained when only what the matrix names and unstable texts differ", () => {
    const seen = compareRuns(RECORD, {
      direct: direct({ ...TOOL, execution: { taskSupport: "optional" } }, calls),
      bridged: bridged(TOOL, good),
    });
    expect(seen.map(({ kind, where }) => `${kind} ${where}`)).toEqual([
      "rule server/discover",
      "rule tools/list",
      "unstable tools/call now",
    ]);
  });

  it("differs when a tool lost a member", () => {
    const [fault] = faults(direct({ ...TOOL, title: "Echo" }, calls), bridged(TOOL, good));
    expect(fault).toMatchObject({
      where: "tools/list",
      what: 'items.0.title: expected "Echo", seen nothing',
    });
  });

  it("differs when a stable result has another text, unless a second direct run has too", () => {
    const other = bridged(TOOL, [said("12:01", STAMPED), said("hallo", STAMPED)]);
    expect(faults(direct(TOOL, calls), other)).toHaveLength(1);
    const again = direct(TOOL, [said("12:00"), said("salut")]);
    expect(faults(direct(TOOL, calls), other, again)).toEqual([]);
  });

  it("differs when an unstable result has another shape", () => {
    const failed = { result: { ...STAMPED, content: [], isError: true } };
    const seen = faults(direct(TOOL, calls), bridged(TOOL, [failed, said("hello", STAMPED)]));
    expect(seen).toMatchObject([{ where: "tools/call now" }]);
  });

  it("differs when a result lacks what modern results have", () => {
    const bare = bridged(TOOL, [said("12:01", STAMPED), said("hello")]);
    expect(faults(direct(TOOL, calls), bare).map(({ what }) => what)).toEqual([
      "resultType null",
      "serverInfo null",
    ]);
  });

  it("may remap a reserved error code, and only so", () => {
    const error = { code: -32_050, message: "busy" };
    const moved = {
      code: -32_603,
      message: "busy",
      data: { originalCode: -32_050, originalMessage: "busy" },
    };
    const of = (seen: JsonObject) =>
      faults(
        direct(TOOL, [said("12:00"), { error }]),
        bridged(TOOL, [said("12:01", STAMPED), { error: seen }]),
      );
    expect(of(moved)).toEqual([]);
    expect(of(error)).toMatchObject([{ what: "error.code: expected -32603, seen -32050" }]);
  });

  it("is not to blame for what the server does without it too", () => {
    const closing = {
      ...CLOSING,
      offences: [{ what: "the official client refuses tools/list", detail: "no type" }],
      leftovers: ["daemon"],
    };
    const alone = { ...direct(TOOL, calls), closing };
    expect(faults(alone, bridged(TOOL, good, closing))).toEqual([]);
  });

  it("differs when the bridge breaks the protocol or leaves something behind", () => {
    const closing = {
      ...CLOSING,
      offences: [{ what: "a request of the server", detail: "ping" }],
      leftovers: ["node"],
    };
    expect(faults(direct(TOOL, calls), bridged(TOOL, good, closing))).toHaveLength(2);
  });
});
