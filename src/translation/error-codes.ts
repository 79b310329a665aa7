import { createDraft, type Draft } from "../jsonrpc/draft.js";
import { INTERNAL_ERROR, INVALID_PARAMS } from "../jsonrpc/error-codes.js";
import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import {
  LEGACY_RESOURCE_NOT_FOUND,
  LEGACY_URL_ELICITATION_REQUIRED,
  MISSING_CLIENT_CAPABILITY,
  type WireError,
} from "../model/wire-error.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "error-codes",
  feature: "Error codes whose meaning changed",
  modernClient: {
    fate: "translated",
    how: "-32002 of `resources/read` becomes -32602; errors -32602 of that method gain the `data.uri` the modern revision asks for; codes -32020 to -32099 that a legacy server uses for itself, and stray -32002 or -32042, become -32603 with `data.originalCode`. All others pass as they are, -32021 with `requiredCapabilities` among them: that is a modern server behind another bridge.",
  },
  legacyClient: {
    fate: "same",
    how: "Codes pass; -32021 keeps its code and data and gains a message people understand; -32020 and -32022 are settled by the bridge itself.",
  },
  loss: "The number of a remapped code stands in `data.originalCode`.",
  spec: ["2026-07-28/basic", "2026-07-28/server/resources"],
  about: ["-32002", "-32042", "-32020", "-32021", "-32022"],
};

function isReserved(code: number): boolean {
  return code >= -32099 && code <= -32020;
}

/** Nothing but the modern error has these data, so it means what it says. */
function isMissingCapability({ code, text }: WireError): boolean {
  const required = memberAt(text, "data", "requiredCapabilities");
  return code === MISSING_CLIENT_CAPABILITY && isObjectText(required);
}

/** A bridge in the place of the server says of a modern one behind it what the client lacks. */
function namesCapabilities({ code, text }: WireError): boolean {
  return (
    code === MISSING_CLIENT_CAPABILITY &&
    isObjectText(memberAt(text, "data", "requiredCapabilities"))
  );
}

function remapped(error: WireError, code: number, describe: (data: Draft) => void): WireError {
  const draft = createDraft(error.text);
  draft.set("code", `${code}`);
  const before = draft.get("data");
  const data = draft.ensureObject("data");
  if (before !== undefined && !isObjectText(before)) data.set("originalData", before);
  describe(data);
  return { code, text: draft.text() };
}

/** An error of a legacy server in the words of the modern revision. */
export function liftError(method: string, error: WireError, params: JsonText): WireError {
  const original = (data: Draft): void => {
    data.set("originalCode", `${error.code}`);
    const message = memberAt(error.text, "message");
    if (message !== undefined) data.set("originalMessage", message);
  };
  if (error.code === LEGACY_RESOURCE_NOT_FOUND) {
    if (method !== "resources/read") return remapped(error, INTERNAL_ERROR, original);
    return remapped(error, INVALID_PARAMS, (data) => {
      const uri = memberAt(params, "uri");
      if (data.get("uri") === undefined && uri !== undefined) data.set("uri", uri);
    });
  }
  if (namesCapabilities(error)) return error;
  if (isMissingCapability(error)) return error;
  if (error.code === LEGACY_URL_ELICITATION_REQUIRED || isReserved(error.code)) {
    return remapped(error, INTERNAL_ERROR, original);
  }
  if (method === "resources/read" && error.code === INVALID_PARAMS) return withUri(error, params);
  return error;
}

/** SDK servers say -32602 for a missing resource already, but leave out which. */
function withUri(error: WireError, params: JsonText): WireError {
  const uri = memberAt(params, "uri");
  const draft = createDraft(error.text);
  const data = draft.get("data");
  if (uri === undefined || (data !== undefined && !isObjectText(data))) return error;
  const facts = draft.ensureObject("data");
  if (facts.get("uri") === undefined) facts.set("uri", uri);
  return { code: error.code, text: draft.text() };
}
