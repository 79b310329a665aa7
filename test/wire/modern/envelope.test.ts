import { expect, test } from "vitest";
import { readObject } from "../../../src/jsonrpc/raw-object.js";
import {
  envelopeMembers,
  hasEnvelope,
  readEnvelope,
  readMeta,
  revisionFault,
} from "../../../src/wire/modern/envelope.js";

const P = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
const C = '"io.modelcontextprotocol/clientCapabilities":{"roots":{}}';
const read = (meta: string) => readEnvelope(readObject(meta));
const dataOf = (meta: string): unknown => {
  const reading = read(meta);
  if (!("type" in reading)) throw new Error("the envelope was accepted");
  expect(reading).toMatchObject({ cause: "refused", error: { code: -32602 } });
  return (JSON.parse(reading.error.text) as { data: unknown }).data;
};

test("a whole envelope is read as texts", () => {
  expect(
    read(
      `{${P},${C},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1.0"},` +
        '"io.modelcontextprotocol/logLevel":"warning","progressToken":1.0,"io.erabridge/session":"s1"}',
    ),
  ).toEqual({
    revision: "2026-07-28",
    capabilities: '{"roots":{}}',
    identity: '{"name":"x","version":"1.0"}',
    logLevel: "warning",
    progressToken: "1.0",
    affinity: "s1",
  });
});

test("identity, log level and progress token are optional", () => {
  expect(read(`{${P},${C}}`)).toEqual({
    revision: "2026-07-28",
    capabilities: '{"roots":{}}',
    identity: undefined,
    logLevel: undefined,
    progressToken: undefined,
    affinity: undefined,
  });
});

test("what is required and missing is named", () => {
  expect(dataOf(`{${P}}`)).toEqual({ missing: ["io.modelcontextprotocol/clientCapabilities"] });
  expect(dataOf(`{${C}}`)).toEqual({ missing: ["io.modelcontextprotocol/protocolVersion"] });
  expect(dataOf("{}")).toEqual({
    missing: [
      "io.modelcontextprotocol/protocolVersion",
      "io.modelcontextprotocol/clientCapabilities",
    ],
  });
});

test.each([
  [
    `{${C},"io.modelcontextprotocol/protocolVersion":20260728}`,
    "io.modelcontextprotocol/protocolVersion",
  ],
  [
    `{${P},"io.modelcontextprotocol/clientCapabilities":[]}`,
    "io.modelcontextprotocol/clientCapabilities",
  ],
  [
    `{${P},"io.modelcontextprotocol/clientCapabilities":null}`,
    "io.modelcontextprotocol/clientCapabilities",
  ],
  [`{${P},${C},"io.modelcontextprotocol/clientInfo":"x"}`, "io.modelcontextprotocol/clientInfo"],
  [`{${P},${C},"io.modelcontextprotocol/logLevel":"loud"}`, "io.modelcontextprotocol/logLevel"],
  [`{${P},${C},"io.modelcontextprotocol/logLevel":null}`, "io.modelcontextprotocol/logLevel"],
  [`{${P},${C},"progressToken":{}}`, "progressToken"],
  [`{${P},${C},"progressToken":null}`, "progressToken"],
])("in %s the member %s is invalid", (meta, key) => {
  expect(dataOf(meta)).toEqual({ invalid: [key] });
});

test("what tables are keyed by has a longest length", () => {
  const padded = (length: number) => `{"x":"${"y".repeat(length - 8)}"}`;
  const capabilities = (text: string) =>
    `{${P},"io.modelcontextprotocol/clientCapabilities":${text}}`;
  expect(read(capabilities(padded(65_536)))).toMatchObject({ revision: "2026-07-28" });
  expect(dataOf(capabilities(padded(65_537)))).toEqual({
    invalid: ["io.modelcontextprotocol/clientCapabilities"],
  });
  const identity = `{${P},${C},"io.modelcontextprotocol/clientInfo":${padded(65_537)}}`;
  expect(dataOf(identity)).toEqual({ invalid: ["io.modelcontextprotocol/clientInfo"] });
  const affinity = (length: number) => `{${P},${C},"io.erabridge/session":"${"s".repeat(length)}"}`;
  expect(read(affinity(256))).toMatchObject({ affinity: "s".repeat(256) });
  expect(dataOf(affinity(257))).toEqual({ invalid: ["io.erabridge/session"] });
});

test("one key of the envelope is a claim; a progress token or a foreign key is none", () => {
  const claims = (meta: string) => hasEnvelope(readMeta(`{"_meta":${meta}}`).meta);
  expect(claims(`{${P}}`)).toBe(true);
  expect(claims(`{${C}}`)).toBe(true);
  expect(claims('{"io.modelcontextprotocol/logLevel":"info"}')).toBe(true);
  expect(claims('{"progressToken":1,"traceparent":"x","com.acme/y":1}')).toBe(false);
  expect(claims("[]")).toBe(false);
  expect(hasEnvelope(readMeta(undefined).meta)).toBe(false);
});

test("a revision of another era is unsupported, and the answer lists what there is", () => {
  expect(revisionFault("2026-07-28", ["2026-07-28"])).toBeUndefined();
  const fault = revisionFault("2025-11-25", ["2026-07-28", "2025-11-25"]);
  expect(JSON.parse(fault?.error.text ?? "")).toMatchObject({
    code: -32022,
    data: { supported: ["2026-07-28", "2025-11-25"], requested: "2025-11-25" },
  });
});

test("the written envelope has the members the specification requires", () => {
  expect(
    envelopeMembers({ capabilities: "{}", identity: '{"name":"b"}', logLevel: "error" }),
  ).toEqual([
    ["io.modelcontextprotocol/protocolVersion", '"2026-07-28"'],
    ["io.modelcontextprotocol/clientInfo", '{"name":"b"}'],
    ["io.modelcontextprotocol/clientCapabilities", "{}"],
    ["io.modelcontextprotocol/logLevel", '"error"'],
  ]);
  expect(
    envelopeMembers({ capabilities: "{}", identity: undefined, logLevel: undefined }),
  ).toHaveLength(2);
});
