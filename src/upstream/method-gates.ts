import { isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";

const GATES: Readonly<Record<string, string>> = {
  "tools/list": "tools",
  "tools/call": "tools",
  "prompts/list": "prompts",
  "prompts/get": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resources",
  "resources/read": "resources",
  "completion/complete": "completions",
};

/**
 * Did the server announce the capability that the method belongs to? "Method not found" then speaks
 * of something inside the request, such as a tool, and not of the method.
 */
export function isGated(method: string, capabilities: JsonText | undefined): boolean {
  const gate = GATES[method];
  return gate !== undefined && isObjectText(memberAt(capabilities, gate));
}
