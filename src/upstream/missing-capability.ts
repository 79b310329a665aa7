import { type JsonText, quote } from "../jsonrpc/json-text.js";
import type { InputMethod } from "../model/input-request.js";
import type { Failed } from "../model/operation.js";
import { MISSING_CLIENT_CAPABILITY } from "../model/wire-error.js";
import { requiredCapability } from "../translation/lower.js";

/** The server asked what the client did not declare (2026-07-28/basic, "Error codes"). */
export function missingCapability(method: InputMethod, params: JsonText | undefined): Failed {
  const required = requiredCapability(method, params);
  const message = `the server asks for ${method}, for which the client declared no capability`;
  const code = MISSING_CLIENT_CAPABILITY;
  const text = `{"code":${code},"message":${quote(message)},"data":{"requiredCapabilities":${required}}}`;
  return { type: "failed", error: { code, text }, cause: "refused" };
}
