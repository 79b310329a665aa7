import type { Json } from "./peer.js";

/** A message in words: what it is, and what it carries. */
export interface Description {
  readonly title: string;
  readonly facts: readonly string[];
  readonly tone: "request" | "answer" | "question" | "error" | "notice";
}

const ENVELOPE = "io.modelcontextprotocol/";
const LONGEST_TEXT = 44;

function shorten(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT - 1)}…` : value;
  }
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item)]));
}

/** JSON for reading: no quotes around plain names, a space behind colons and commas. */
function toWords(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toWords).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${key}: ${toWords(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function envelopeFacts(meta: Json): readonly string[] {
  const version = meta[`${ENVELOPE}protocolVersion`];
  if (version === undefined) return [];
  const capabilities = Object.keys((meta[`${ENVELOPE}clientCapabilities`] ?? {}) as Json);
  const able = capabilities.length === 0 ? "" : `, can ${capabilities.join(", ")}`;
  return [`envelope: ${version}${able}`];
}

/** Members of the parameters or the result: the sealed state first, plain values in one line. */
function memberFacts(body: Json, skipped: readonly string[]): readonly string[] {
  const meta = Object.entries((body["_meta"] ?? {}) as Json).filter(
    ([key]) => !key.startsWith(ENVELOPE),
  );
  const shown = Object.entries(body).filter(
    ([key]) => key !== "_meta" && key !== "requestState" && !skipped.includes(key),
  );
  const members = [...shown, ...meta];
  const isPlain = (value: unknown) => typeof value !== "object";
  const line = ([key, value]: readonly [string, unknown]) => `${key}: ${toWords(shorten(value))}`;
  const plain = members.filter(([, value]) => isPlain(value)).map(line);
  const state = body["requestState"];
  return [
    ...(typeof state === "string" ? [`requestState: ${state.slice(0, 8)}… (sealed)`] : []),
    ...(plain.length === 0 ? [] : [plain.join(", ")]),
    ...members.filter(([, value]) => !isPlain(value)).map(line),
  ];
}

function listTools(result: Json): Json {
  const tools = result["tools"];
  if (!Array.isArray(tools)) return result;
  return { ...result, tools: tools.map((tool: { name: string }) => tool.name) };
}

/** `asked` is the method of the request that an answer belongs to. */
export function describe(message: Json, asked: string | undefined): Description {
  const id = message["id"] === undefined ? "" : `#${JSON.stringify(message["id"])} `;
  const method = message["method"];
  const params = (message["params"] ?? {}) as Json;
  if (typeof method === "string") {
    const name = typeof params["name"] === "string" ? ` ${params["name"]}` : "";
    const retry = params["inputResponses"] === undefined ? "" : " (again)";
    const facts = [
      ...memberFacts(params, ["name"]),
      ...envelopeFacts((params["_meta"] ?? {}) as Json),
    ];
    return {
      title: `${id}${method}${name}${retry}`,
      facts,
      tone: id === "" ? "notice" : "request",
    };
  }
  if (message["error"] !== undefined) {
    const { code, message: text } = message["error"] as { code: number; message: string };
    return { title: `${id}error ${code}`, facts: [text], tone: "error" };
  }
  const result = listTools((message["result"] ?? {}) as Json);
  const type = result["resultType"];
  const question = type === "input_required";
  const kind = question ? "input_required" : `result${asked === undefined ? "" : ` of ${asked}`}`;
  const facts = memberFacts(result, question ? ["resultType"] : []);
  return {
    title: `${id}${kind}`,
    facts,
    tone: question ? "question" : "answer",
  };
}
