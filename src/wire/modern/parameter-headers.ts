import { asNumber, asString, type JsonText } from "../../jsonrpc/json-text.js";
import { memberOf, readObject } from "../../jsonrpc/raw-object.js";
import type { Failed } from "../../model/operation.js";
import { decodeHeaderValue, encodeHeaderValue, trimField } from "./header-value.js";
import { type HeaderFields, headerFault, isRepeated } from "./headers.js";

const PARAMETER_HEADER_PREFIX = "mcp-param-";

/** A tool parameter that its schema's `x-mcp-header` mirrors into a header. */
export interface MirroredParameter {
  /** Keys from the arguments object down to the value. */
  readonly path: readonly string[];
  /** What follows `Mcp-Param-`. */
  readonly name: string;
  readonly type: "string" | "integer" | "boolean";
}

/** The `Mcp-Param-*` fields of a request, or undefined when it has none. */
export function parameterHeadersIn(headers: HeaderFields): HeaderFields | undefined {
  let found: Record<string, string> | undefined;
  for (const name in headers) {
    if (!name.startsWith(PARAMETER_HEADER_PREFIX)) continue;
    found ??= {};
    found[name] = headers[name] ?? "";
  }
  return found;
}

/**
 * Compares the headers a tool declares with the arguments of a call; undefined when they agree
 * (2026-07-28/basic/transports/streamable-http, "Server Behavior for Custom Headers"). A header for a
 * value that is null or absent disagrees too: whoever routes by it would see another call than the tool.
 */
export function parameterHeaderFault(
  declared: readonly MirroredParameter[],
  callArguments: JsonText | undefined,
  headers: HeaderFields,
): Failed | undefined {
  for (const parameter of declared) {
    const header = headers[PARAMETER_HEADER_PREFIX + parameter.name.toLowerCase()];
    const name = `Mcp-Param-${parameter.name}`;
    const text = valueAt(callArguments, parameter.path);
    if (text === REPEATED) return headerFault(`${name} has two values in the body`);
    const body = mirroredText(text);
    if (body === undefined) {
      if (header !== undefined) return headerFault(`${name} has no value in the body`);
      continue;
    }
    if (header === undefined) return headerFault(`${name} is required`);
    const decoded = decodeHeaderValue(header);
    if (decoded === undefined) return headerFault(`${name} has illegal characters or encoding`);
    if (!agree(decoded, body, parameter.type)) {
      return headerFault(`${name} does not match the body`);
    }
  }
  return undefined;
}

/** The headers to send with a call; names in lower case. Null and absent values have none. */
export function parameterHeaders(
  declared: readonly MirroredParameter[],
  callArguments: JsonText | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const parameter of declared) {
    const value = valueAt(callArguments, parameter.path);
    const text = value === REPEATED ? undefined : mirroredText(value);
    if (text === undefined) continue;
    headers[PARAMETER_HEADER_PREFIX + parameter.name.toLowerCase()] = encodeHeaderValue(text);
  }
  return headers;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

function agree(header: string, body: string, type: MirroredParameter["type"]): boolean {
  if (header === body) return true;
  if (type !== "integer") return false;
  const value = trimField(header);
  return DECIMAL.test(value) && DECIMAL.test(body) && Number(value) === Number(body);
}

const REPEATED = Symbol("repeated");

function valueAt(
  text: JsonText | undefined,
  path: readonly string[],
): JsonText | undefined | typeof REPEATED {
  let current = text;
  for (const key of path) {
    const object = readObject(current);
    if (isRepeated(object, key)) return REPEATED;
    current = memberOf(object, key);
  }
  return current;
}

/** A primitive as its header spells it; undefined for what no header carries. */
function mirroredText(text: JsonText | undefined): string | undefined {
  if (text === undefined || text === "null") return undefined;
  if (text === "true" || text === "false") return text;
  const string = asString(text);
  if (string !== undefined) return string;
  const number = asNumber(text);
  if (number === undefined) return undefined;
  return Number.isSafeInteger(number) ? String(number) : text;
}
