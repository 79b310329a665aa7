import { asString, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { isLogLevel, type LogLevel, passesLevel } from "../model/log-level.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "log-level",
  feature: "Log messages",
  modernClient: {
    fate: "translated",
    how: "The session is set to the most talkative level of the requests in flight, and messages are sifted for each request; a request without `logLevel` gets none.",
  },
  legacyClient: {
    fate: "translated",
    how: "`logging/setLevel` is answered by the bridge and becomes the `logLevel` of each request that follows.",
  },
  loss: "Messages that belong to no request do not reach a modern client, and a legacy client hears nothing before `logging/setLevel`.",
  spec: ["2026-07-28/server/utilities/logging", "2025-11-25/server/utilities/logging"],
  about: ["logging", "logging/setLevel", "logLevel", "notifications/message"],
};

/** Does a log message, given by its params, pass a threshold? Without a threshold none does. */
export function isLogWanted(
  params: JsonText | undefined,
  threshold: LogLevel | undefined,
): boolean {
  const level = asString(memberAt(params, "level"));
  return threshold !== undefined && isLogLevel(level) && passesLevel(level, threshold);
}
