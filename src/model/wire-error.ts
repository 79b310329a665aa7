import { type JsonText, toJsonText } from "../jsonrpc/json-text.js";

/** Codes MCP gives a meaning, by revision (2026-07-28/basic, "Error codes"). */
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;
/** Legacy only: a resource does not exist. */
export const LEGACY_RESOURCE_NOT_FOUND = -32002;
/** Legacy only (2025-11-25): the user must visit URLs first. */
export const LEGACY_URL_ELICITATION_REQUIRED = -32042;

/** A JSON-RPC error as it goes over the wire: the code for decisions, the text for carrying. */
export interface WireError {
  readonly code: number;
  /** The whole error object, as it came or as the bridge wrote it. */
  readonly text: JsonText;
}

/** An error object written by the bridge. `data` is any plain value. */
export function wireError(code: number, message: string, data?: unknown): WireError {
  const error = data === undefined ? { code, message } : { code, message, data };
  return { code, text: toJsonText(error) };
}
