import { asString, type JsonText } from "../../jsonrpc/json-text.js";
import { memberOf, type RawObject, readObject } from "../../jsonrpc/raw-object.js";
import { NEWEST_MODERN } from "../../model/era.js";
import type { Failed } from "../../model/operation.js";
import { HEADER_MISMATCH } from "../../model/wire-error.js";
import { refused } from "./envelope.js";
import { decodeHeaderValue, encodeHeaderValue, trimField } from "./header-value.js";
import { MODERN_REQUESTS } from "./methods.js";

/** Names in lower case. */
export type HeaderFields = Readonly<Record<string, string>>;

export const REVISION_HEADER = "mcp-protocol-version";
const METHOD_HEADER = "mcp-method";
const NAME_HEADER = "mcp-name";

/** The body's side of the comparison. */
export interface MirroredBody {
  readonly method: string;
  readonly params: RawObject | undefined;
}

/** A -32020 refusal (2026-07-28/basic/transports/streamable-http, "Server Validation"). */
export function headerFault(message: string): Failed {
  return refused(HEADER_MISMATCH, `Header mismatch: ${message}`);
}

/** Compares `MCP-Protocol-Version` with the body; undefined when they agree. */
export function revisionHeaderFault(headers: HeaderFields, revision: string): Failed | undefined {
  return compare("MCP-Protocol-Version", headers[REVISION_HEADER], revision);
}

/** Compares `Mcp-Method` and `Mcp-Name` with the body; undefined when they agree. */
export function mirrorFault(headers: HeaderFields, body: MirroredBody): Failed | undefined {
  return (
    compare("Mcp-Method", headers[METHOD_HEADER], body.method) ??
    compareName(headers[NAME_HEADER], body)
  );
}

function compare(name: string, header: string | undefined, body: string): Failed | undefined {
  if (header === body) return undefined;
  if (header === undefined) return headerFault(`${name} is required`);
  if (trimField(header) === body) return undefined;
  return headerFault(`${name} does not match the body`);
}

function compareName(header: string | undefined, body: MirroredBody): Failed | undefined {
  const member = MODERN_REQUESTS.get(body.method)?.named;
  if (member === undefined) return undefined;
  if (isRepeated(body.params, member)) return headerFault(`params.${member} is given twice`);
  const value = asString(memberOf(body.params, member));
  if (header === undefined) {
    return value === undefined ? undefined : headerFault("Mcp-Name is required");
  }
  const decoded = decodeHeaderValue(header);
  if (decoded === undefined) return headerFault("Mcp-Name has illegal characters or encoding");
  if (decoded === value) return undefined;
  return headerFault(`Mcp-Name does not match params.${member}`);
}

/**
 * A member that stands twice is two values: readers differ in which they take, so no header can agree
 * with all of them.
 */
export function isRepeated(object: RawObject | undefined, key: string): boolean {
  let count = 0;
  for (const member of object?.members ?? []) if (member.key === key) count++;
  return count > 1;
}

/**
 * The standard headers of a request in the newest revision. A method that no header can carry leaves
 * `Mcp-Method` out: the server then refuses the request, and nothing is smuggled.
 */
export function standardHeaders(
  method: string,
  params: JsonText | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { [REVISION_HEADER]: NEWEST_MODERN };
  if (/^[\x21-\x7e]+$/.test(method)) headers[METHOD_HEADER] = method;
  const member = MODERN_REQUESTS.get(method)?.named;
  const value = member === undefined ? undefined : asString(memberOf(readObject(params), member));
  if (value !== undefined) headers[NAME_HEADER] = encodeHeaderValue(value);
  return headers;
}
