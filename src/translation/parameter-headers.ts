import { type JsonText, parseJson } from "../jsonrpc/json-text.js";
import type { Rule } from "./rule.js";

export const rule: Rule = {
  id: "parameter-headers",
  feature: "`x-mcp-header` and `Mcp-Param-*`",
  modernClient: {
    fate: "answered-here",
    how: "A valid annotation of a legacy tool is kept and its headers are checked against the body; an invalid one is taken out, or the client had to drop the tool. Nothing goes upstream.",
  },
  legacyClient: {
    fate: "answered-here",
    how: "The bridge writes the headers from the tool's schema, also when the client never listed tools. Tools with invalid annotations are left out of the list, with a warning in the log.",
  },
  loss: "A tool with an invalid annotation is invisible to legacy clients.",
  spec: ["2026-07-28/basic/transports/streamable-http"],
  about: ["x-mcp-header", "Mcp-Param"],
};

/** One parameter that is mirrored into a header. */
export interface ParameterHeader {
  /** Keys from the arguments object down to the value. */
  readonly path: readonly string[];
  /** The annotation's own spelling; the header is `Mcp-Param-` and this. */
  readonly name: string;
  readonly type: "string" | "integer" | "boolean";
}

export type ParameterHeaders =
  | { readonly valid: true; readonly headers: readonly ParameterHeader[] }
  | { readonly valid: false; readonly reason: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PRIMITIVES: readonly unknown[] = ["string", "integer", "boolean"];
const ANNOTATION = "x-mcp-header";
/** Deeper schemas are not walked: no annotation of a real tool stands there. */
const MAX_SCHEMA_DEPTH = 64;

interface Walk {
  readonly found: ParameterHeader[];
  problem: string | undefined;
}

function noteAnnotation(
  schema: Record<string, unknown>,
  path: readonly string[],
  walk: Walk,
): void {
  const name = schema[ANNOTATION];
  const type = schema["type"];
  if (typeof name !== "string" || !TOKEN.test(name)) {
    walk.problem = "an x-mcp-header is no header token";
  } else if (path.length === 0 || !PRIMITIVES.includes(type)) {
    walk.problem = `x-mcp-header ${name} stands on something other than a string, integer or boolean`;
  } else if (walk.found.some((known) => known.name.toLowerCase() === name.toLowerCase())) {
    walk.problem = `x-mcp-header ${name} is given twice`;
  } else {
    walk.found.push({ path, name, type: type as ParameterHeader["type"] });
  }
}

/** `path` is undefined below anything but a chain of `properties`: no annotation may stand there. */
function visit(
  value: unknown,
  path: readonly string[] | undefined,
  depth: number,
  walk: Walk,
): void {
  if (walk.problem !== undefined || typeof value !== "object" || value === null) return;
  if (depth > MAX_SCHEMA_DEPTH) return;
  if (Array.isArray(value)) {
    for (const element of value) visit(element, undefined, depth + 1, walk);
    return;
  }
  const schema = value as Record<string, unknown>;
  if (ANNOTATION in schema) {
    if (path === undefined) walk.problem = "an x-mcp-header cannot be reached by properties alone";
    else noteAnnotation(schema, path, walk);
  }
  for (const [keyword, inner] of Object.entries(schema)) {
    if (DATA_KEYWORDS.includes(keyword)) continue;
    if (keyword === "properties") visitProperties(inner, path, depth, walk);
    else visit(inner, undefined, depth + 1, walk);
  }
}

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS: readonly string[] = ["default", "const", "enum", "examples", ANNOTATION];

function visitProperties(
  value: unknown,
  path: readonly string[] | undefined,
  depth: number,
  walk: Walk,
): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, schema] of Object.entries(value)) {
    visit(schema, path === undefined ? undefined : [...path, key], depth + 1, walk);
  }
}

/** The headers a tool's `inputSchema` declares, or why its annotations are invalid. */
export function parameterHeadersOf(inputSchema: JsonText | undefined): ParameterHeaders {
  if (inputSchema === undefined || !inputSchema.includes(ANNOTATION))
    return { valid: true, headers: [] };
  const walk: Walk = { found: [], problem: undefined };
  visit(parseJson(inputSchema), [], 0, walk);
  return walk.problem === undefined
    ? { valid: true, headers: walk.found }
    : { valid: false, reason: walk.problem };
}

/** The schema without any annotation, for a tool whose annotations are invalid. */
export function withoutParameterHeaders(inputSchema: JsonText): JsonText {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => key !== ANNOTATION);
    return Object.fromEntries(entries.map(([key, inner]) => [key, strip(inner)]));
  };
  return JSON.stringify(strip(parseJson(inputSchema)));
}
