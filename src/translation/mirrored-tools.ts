import { createDraft } from "../jsonrpc/draft.js";
import { asString, isArrayText, type JsonText } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import { type ParameterHeader, parameterHeadersOf } from "./parameter-headers.js";

/** A page of tools as an HTTP client may use it. */
export interface MirroredTools {
  /** The result without the tools that must not be called. */
  readonly result: JsonText;
  /** The headers of each tool that is left, most with none. */
  readonly headers: ReadonlyMap<string, readonly ParameterHeader[]>;
  readonly rejected: readonly { readonly tool: string; readonly reason: string }[];
}

const NONE: readonly ParameterHeader[] = [];

/**
 * Reads the header annotations of a `tools/list` result and leaves out tools where they are invalid
 * (2026-07-28/basic/transports/streamable-http, "Schema Extension").
 */
export function readMirroredTools(result: JsonText): MirroredTools {
  const tools = memberOf(readObject(result), "tools");
  const headers = new Map<string, readonly ParameterHeader[]>();
  if (!isArrayText(tools)) return { result, headers, rejected: [] };
  const rejected: { tool: string; reason: string }[] = [];
  const kept = elementsOf(tools).filter((tool) => {
    const object = readObject(tool);
    const name = asString(memberOf(object, "name")) ?? "";
    const annotated = tool.includes("x-mcp-header");
    const declared = annotated ? parameterHeadersOf(memberOf(object, "inputSchema")) : undefined;
    if (declared?.valid === false) rejected.push({ tool: name, reason: declared.reason });
    else headers.set(name, declared?.headers ?? NONE);
    return declared?.valid !== false;
  });
  if (rejected.length === 0) return { result, headers, rejected };
  const draft = createDraft(result);
  draft.set("tools", `[${kept.join(",")}]`);
  return { result: draft.text(), headers, rejected };
}
