import { createDraft } from "../jsonrpc/draft.js";
import { INTERNAL_ERROR } from "../jsonrpc/error-codes.js";
import { isObjectText, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt, readObject } from "../jsonrpc/raw-object.js";
import {
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  UNSUPPORTED_PROTOCOL_VERSION,
  type WireError,
} from "../model/wire-error.js";

/**
 * A modern error for a legacy client. Codes pass; a missing capability is said in words, for no legacy
 * client knows the number. What the bridge should have settled with the server becomes -32603.
 */
export function lowerError(error: WireError): WireError {
  if (error.code === MISSING_CLIENT_CAPABILITY) return withWords(error);
  if (error.code !== HEADER_MISMATCH && error.code !== UNSUPPORTED_PROTOCOL_VERSION) return error;
  const draft = createDraft(error.text);
  draft.set("code", `${INTERNAL_ERROR}`);
  const before = draft.get("data");
  const data = draft.ensureObject("data");
  if (before !== undefined && !isObjectText(before)) data.set("originalData", before);
  data.set("originalCode", `${error.code}`);
  return { code: INTERNAL_ERROR, text: draft.text() };
}

function withWords(error: WireError): WireError {
  const names = capabilityNames(memberAt(error.text, "data", "requiredCapabilities"));
  if (names.length === 0) return error;
  const draft = createDraft(error.text);
  const message = `This request needs ${names.join(" and ")}, which your client did not declare`;
  draft.set("message", quote(message));
  return { code: error.code, text: draft.text() };
}

/** `elicitation (url)`, `sampling`: each capability with the parts that are asked of it. */
function capabilityNames(required: JsonText | undefined): readonly string[] {
  const object = readObject(required);
  return (object?.members ?? []).map(({ key, start, end }) => {
    const parts = readObject(object?.text.slice(start, end))?.members ?? [];
    return parts.length === 0 ? key : `${key} (${parts.map((part) => part.key).join(", ")})`;
  });
}
