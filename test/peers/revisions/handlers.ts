import {
  type Call,
  type JsonObject,
  NOTES,
  type OlderRevision,
  page,
  readNote,
  since,
} from "./content.js";
import { toolsOf } from "./tools.js";

export type Handler = (params: JsonObject, call: Call) => Promise<JsonObject> | JsonObject;

const CITIES = ["Paris", "Prague", "Pisa", "Oslo"];

const invalid = (message: string): Error => Object.assign(new Error(message), { code: -32602 });

function listResources({ cursor }: JsonObject): JsonObject {
  const notes = NOTES.map((name, index) => ({
    uri: `note:///${index + 1}`,
    name,
    mimeType: "text/plain",
  }));
  return page("resources", notes, 2, cursor);
}

function listPrompts({ cursor }: JsonObject, { revision }: Call): JsonObject {
  const title = since(revision, "2025-06-18") ? { title: "Travel" } : {};
  const prompts = [
    { name: "plain", description: "Has no arguments" },
    {
      name: "travel",
      description: "Goes to a city",
      arguments: [{ name: "city", description: "Where to", required: true }, { name: "by" }],
      ...title,
    },
    { name: "asking", description: "Asks the client's model" },
  ];
  return page("prompts", prompts, 2, cursor);
}

async function getPrompt(params: JsonObject, { ask }: Call): Promise<JsonObject> {
  const { name } = params;
  const args = (params["arguments"] ?? {}) as JsonObject;
  const say = (words: string): JsonObject => ({
    description: `${name}`,
    messages: [
      { role: "user", content: { type: "text", text: words } },
      {
        role: "assistant",
        content: { type: "resource", resource: { uri: "note:///1", text: "one" } },
      },
    ],
  });
  if (name === "plain") return say("hello");
  if (name === "travel") return say(`to ${args["city"]} by ${args["by"] ?? "foot"}`);
  if (name !== "asking") throw invalid(`Unknown prompt: ${name}`);
  const answer = await ask("sampling/createMessage", {
    messages: [{ role: "user", content: { type: "text", text: "a greeting?" } }],
    maxTokens: 10,
  });
  return say(JSON.stringify(answer));
}

function complete(params: JsonObject, { revision }: Call): JsonObject {
  const { value } = params["argument"] as { value: string };
  const values = CITIES.filter((city) => city.startsWith(value));
  const context = since(revision, "2025-06-18") ? params["context"] : undefined;
  const known = context === undefined ? [] : [JSON.stringify(context)];
  return { completion: { values: [...values, ...known], total: values.length, hasMore: false } };
}

async function callTool(params: JsonObject, call: Call): Promise<JsonObject> {
  const tool = toolsOf(call.revision).find(({ name }) => name === params["name"]);
  if (tool === undefined) throw invalid(`Unknown tool: ${params["name"]}`);
  return await tool.run((params["arguments"] ?? {}) as JsonObject, call);
}

/** What a server of the revision answers, by method. */
export function handlersOf(revision: OlderRevision): Readonly<Record<string, Handler>> {
  const tools = toolsOf(revision).map(({ name, description, inputSchema, extra }) => ({
    name,
    description,
    inputSchema,
    ...extra,
  }));
  return {
    "tools/list": ({ cursor }) => page("tools", tools, 5, cursor),
    "tools/call": callTool,
    "resources/list": listResources,
    "resources/templates/list": ({ cursor }) =>
      page(
        "resourceTemplates",
        [{ uriTemplate: "note:///{number}", name: "note", mimeType: "text/plain" }],
        5,
        cursor,
      ),
    "resources/read": ({ uri }) => readNote(String(uri)),
    "prompts/list": listPrompts,
    "prompts/get": getPrompt,
    "completion/complete": complete,
  };
}

/** What the server declares in `initialize`. */
export function capabilitiesOf(revision: OlderRevision): JsonObject {
  return {
    tools: {},
    resources: {},
    prompts: {},
    ...(since(revision, "2025-03-26") ? { completions: {} } : {}),
  };
}
