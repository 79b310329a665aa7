import type { Reply } from "./client.js";
import type { FurtherRequest } from "./further.js";
import { canonical, isObject, type Json, type JsonObject, without } from "./json.js";

/** A value as a modern client should see it, and the rules of the matrix that changed it. */
export interface Expected<Value> {
  readonly value: Value;
  readonly rules: readonly string[];
}

/** The bridge serves both eras on one pipe and says so. */
const VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const CACHEABLE = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
];
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";
const NOTICES = "io.erabridge/notices";

/** A tool definition without the member that the modern revision does not know. */
export function expectedTool(tool: Json): Expected<Json> {
  if (!isObject(tool) || tool["execution"] === undefined) return { value: tool, rules: [] };
  return { value: without(tool, "execution"), rules: ["tool-schemas: execution taken out"] };
}

/** An `initialize` result as the discover result that stands for it. */
export function expectedDiscovery(initialized: JsonObject): Expected<JsonObject> {
  const { capabilities, protocolVersion } = initialized;
  const declared = isObject(capabilities) ? capabilities : {};
  const rules: string[] = [];
  const offered: Record<string, Json> = { ...without(declared, "tasks") };
  if (declared["tasks"] !== undefined) rules.push("tasks: not advertised");
  if (
    protocolVersion === "2024-11-05" &&
    declared["completions"] === undefined &&
    (isObject(declared["prompts"]) || isObject(declared["resources"]))
  ) {
    offered["completions"] = {};
    rules.push("advertisement: completions of 2024-11-05 advertised");
  }
  const rest = without(initialized, "protocolVersion", "serverInfo");
  return {
    value: { ...rest, capabilities: offered, supportedVersions: VERSIONS },
    rules,
  };
}

function remapped(error: JsonObject, code: number, more: JsonObject): Expected<JsonObject> {
  const { data } = error;
  const facts = isObject(data) ? data : data === undefined ? {} : { originalData: data };
  const rule = `error-codes: ${error["code"]} ${code === error["code"] ? "with data.uri" : `is ${code}`}`;
  return { value: { ...error, code, data: { ...more, ...facts } }, rules: [rule] };
}

function expectedError(
  { method, params }: FurtherRequest,
  error: JsonObject,
): Expected<JsonObject> {
  const { code, message, data } = error;
  const number = typeof code === "number" ? code : 0;
  const uri = method === "resources/read" ? params["uri"] : undefined;
  const isMissing = number === -32_002 || (number === -32_602 && isObject(data ?? {}));
  if (uri !== undefined && isMissing) return remapped(error, -32_602, { uri });
  const reserved = number <= -32_020 && number >= -32_099;
  if (!reserved && number !== -32_002 && number !== -32_042) return { value: error, rules: [] };
  return remapped(error, -32_603, {
    originalCode: number,
    ...(message === undefined ? {} : { originalMessage: message }),
  });
}

/** What a reply to this request becomes. */
export function expectedReply(request: FurtherRequest, reply: Reply): Expected<Reply> {
  if ("error" in reply) {
    const { value, rules } = expectedError(request, reply.error);
    return { value: { error: value }, rules };
  }
  if (
    !("result" in reply) ||
    request.method !== "tools/call" ||
    reply.result["content"] !== undefined
  )
    return { value: reply, rules: [] };
  return {
    value: { result: { ...reply.result, content: [] } },
    rules: ["tool-schemas: content added"],
  };
}

/** A modern result without what every modern result has, and what was wrong with that. */
export interface Bare {
  readonly result: JsonObject;
  readonly faults: readonly string[];
  /** Codes of what the bridge says it lost or guessed. */
  readonly notices: readonly string[];
}

export function bare(method: string, result: JsonObject, serverInfo: Json | undefined): Bare {
  const meta = isObject(result["_meta"]) ? result["_meta"] : {};
  const faults: string[] = [];
  if (result["resultType"] !== "complete")
    faults.push(`resultType ${canonical(result["resultType"])}`);
  if (canonical(meta[SERVER_INFO]) !== canonical(serverInfo))
    faults.push(`serverInfo ${canonical(meta[SERVER_INFO])}`);
  const hints = canonical([result["ttlMs"] ?? null, result["cacheScope"] ?? null]);
  const due = CACHEABLE.includes(method) ? '[0,"private"]' : "[null,null]";
  if (hints !== due) faults.push(`ttlMs and cacheScope ${hints}`);
  const notices = meta[NOTICES];
  const kept = without(meta, SERVER_INFO, NOTICES);
  const rest = without(result, "resultType", "ttlMs", "cacheScope", "_meta");
  return {
    result: Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept },
    faults,
    notices: Array.isArray(notices)
      ? notices.map((notice: Json) => (isObject(notice) ? `${notice["code"]}` : "?"))
      : [],
  };
}
