import { expect, test } from "vitest";
import { readObject } from "../../../src/jsonrpc/raw-object.js";
import {
  mirrorFault,
  revisionHeaderFault,
  standardHeaders,
} from "../../../src/wire/modern/headers.js";
import {
  type MirroredParameter,
  parameterHeaderFault,
  parameterHeaders,
  parameterHeadersIn,
} from "../../../src/wire/modern/parameter-headers.js";

const call = (params: string, method = "tools/call") => ({ method, params: readObject(params) });

test("the revision header is required and compared exactly, white space aside", () => {
  expect(
    revisionHeaderFault({ "mcp-protocol-version": "2026-07-28" }, "2026-07-28"),
  ).toBeUndefined();
  expect(
    revisionHeaderFault({ "mcp-protocol-version": " 2026-07-28\t" }, "2026-07-28"),
  ).toBeUndefined();
  for (const headers of [
    {},
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-protocol-version": "" },
  ]) {
    expect(revisionHeaderFault(headers, "2026-07-28")?.error.code).toBe(-32020);
  }
});

test("method and name must be the body's, in the body's case", () => {
  const body = call('{"name":"t"}');
  const ok = { "mcp-method": "tools/call", "mcp-name": "t" };
  expect(mirrorFault(ok, body)).toBeUndefined();
  expect(mirrorFault({ ...ok, "mcp-name": "  t " }, body)).toBeUndefined();
  for (const wrong of [
    { "mcp-name": "t" },
    { "mcp-method": "tools/call" },
    { ...ok, "mcp-method": "Tools/Call" },
    { ...ok, "mcp-method": "tools/list" },
    { ...ok, "mcp-name": "T" },
    { ...ok, "mcp-name": "t, t" },
    { ...ok, "mcp-name": "=?base64?dA?=" },
    { ...ok, "mcp-name": "=?base64?eA==?=" },
  ]) {
    expect(mirrorFault(wrong, body)?.error.code, JSON.stringify(wrong)).toBe(-32020);
  }
});

test("an encoded name is decoded before it is compared", () => {
  const headers = { "mcp-method": "tools/call", "mcp-name": "=?base64?Y2Fmw6k=?=" };
  expect(mirrorFault(headers, call('{"name":"caf\\u00e9"}'))).toBeUndefined();
  const look = { "mcp-method": "tools/call", "mcp-name": "=?base64?dGVzdA==?=" };
  expect(mirrorFault(look, call('{"name":"test"}'))).toBeUndefined();
  expect(mirrorFault(look, call('{"name":"=?base64?dGVzdA==?="}'))?.error.code).toBe(-32020);
});

test("resources are named by their uri, tasks by their id, other methods not at all", () => {
  const named = (method: string, name: string) => ({ "mcp-method": method, "mcp-name": name });
  const uri = call('{"uri":"file:///a"}', "resources/read");
  expect(mirrorFault(named("resources/read", "file:///a"), uri)).toBeUndefined();
  expect(mirrorFault({ "mcp-method": "resources/read" }, uri)?.error.code).toBe(-32020);
  const task = call('{"taskId":"7"}', "tasks/get");
  expect(mirrorFault(named("tasks/get", "7"), task)).toBeUndefined();
  expect(mirrorFault(named("tools/list", "whatever"), call("{}", "tools/list"))).toBeUndefined();
});

test("a body without a name has no header to agree with", () => {
  expect(mirrorFault({ "mcp-method": "tools/call" }, call("{}"))).toBeUndefined();
  const named = { "mcp-method": "tools/call", "mcp-name": "t" };
  expect(mirrorFault(named, call("{}"))?.error.code).toBe(-32020);
});

test("the written headers are the ones a server asks for", () => {
  expect(standardHeaders("tools/list", undefined)).toEqual({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
  });
  expect(standardHeaders("resources/read", '{"uri":"file:///Za\u0142\u0105cz"}')).toEqual({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "resources/read",
    "mcp-name": "=?base64?ZmlsZTovLy9aYcWCxIVjeg==?=",
  });
  expect(standardHeaders("tools/call", '{"name":7}')["mcp-name"]).toBeUndefined();
  expect(standardHeaders("x\r\ny: z", undefined)["mcp-method"]).toBeUndefined();
});

const REGION: MirroredParameter = { path: ["region"], name: "Region", type: "string" };
const LEVEL: MirroredParameter = { path: ["deep", "level"], name: "Level", type: "integer" };
const DRY: MirroredParameter = { path: ["dry"], name: "Dry", type: "boolean" };
const ALL = [REGION, LEVEL, DRY];

test.each([
  ['{"region":"eu"}', { "mcp-param-region": "eu" }],
  ['{"region":"世"}', { "mcp-param-region": "=?base64?5LiW?=" }],
  ['{"region":""}', { "mcp-param-region": "=?base64??=" }],
  ['{"region":null}', {}],
  ["{}", {}],
  ['{"deep":{"level":42}}', { "mcp-param-level": "42" }],
  ['{"deep":{"level":42.0}}', { "mcp-param-level": "42" }],
  ['{"deep":{"level":-7}}', { "mcp-param-level": "-7" }],
  ['{"deep":{"level":1e2}}', { "mcp-param-level": "100" }],
  ['{"deep":{"level":9007199254740993}}', { "mcp-param-level": "9007199254740993" }],
  ['{"dry":true}', { "mcp-param-dry": "true" }],
  ['{"dry":false}', { "mcp-param-dry": "false" }],
  ['{"region":{}}', {}],
])("the arguments %s are mirrored, and the mirror agrees", (args, headers) => {
  expect(parameterHeaders(ALL, args)).toEqual(headers);
  expect(parameterHeaderFault(ALL, args, headers)).toBeUndefined();
});

test("numbers are compared by value, everything else by its characters", () => {
  const level = (header: string, body: string) =>
    parameterHeaderFault([LEVEL], `{"deep":{"level":${body}}}`, { "mcp-param-level": header });
  expect(level("42.0", "42")).toBeUndefined();
  expect(level("42", "42.0")).toBeUndefined();
  for (const wrong of ["43", "0x2a", "4 2", "", "42abc", "NaN"]) {
    expect(level(wrong, "42")?.error.code, wrong).toBe(-32020);
  }
  const region = { "mcp-param-region": "EU" };
  expect(parameterHeaderFault([REGION], '{"region":"eu"}', region)?.error.code).toBe(-32020);
});

test.each([
  ["missing though the body has a value", '{"region":"eu"}', {}],
  ["given though the body has null", '{"region":null}', { "mcp-param-region": "eu" }],
  ["given though the body has nothing", "{}", { "mcp-param-region": "eu" }],
  ["given though there are no arguments", undefined, { "mcp-param-region": "eu" }],
  ["not Base64", '{"region":"eu"}', { "mcp-param-region": "=?base64?!!?=" }],
  ["unwrapped Base64", '{"region":"eu"}', { "mcp-param-region": "ZXU=" }],
  ["twice", '{"region":"eu"}', { "mcp-param-region": "eu, eu" }],
])("a header that is %s is refused", (_name, args, headers) => {
  expect(parameterHeaderFault([REGION], args, headers)?.error.code).toBe(-32020);
});

test("headers no tool declares are ignored", () => {
  expect(parameterHeaderFault([REGION], "{}", { "mcp-param-other": "x" })).toBeUndefined();
});

test("only parameter headers are picked out of a request", () => {
  expect(parameterHeadersIn({ host: "x", "mcp-param-a": "1", "mcp-name": "t" })).toEqual({
    "mcp-param-a": "1",
  });
  expect(parameterHeadersIn({ host: "x" })).toBeUndefined();
});
