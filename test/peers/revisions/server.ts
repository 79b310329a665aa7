import type { JsonObject, OlderRevision } from "./content.js";
import { capabilitiesOf, handlersOf } from "./handlers.js";
import type { OldExtra, OldSdk, OldServer } from "./sdk.js";

const REQUEST_SCHEMAS: Readonly<Record<string, string>> = {
  "tools/list": "ListToolsRequestSchema",
  "tools/call": "CallToolRequestSchema",
  "resources/list": "ListResourcesRequestSchema",
  "resources/templates/list": "ListResourceTemplatesRequestSchema",
  "resources/read": "ReadResourceRequestSchema",
  "prompts/list": "ListPromptsRequestSchema",
  "prompts/get": "GetPromptRequestSchema",
  "completion/complete": "CompleteRequestSchema",
};

const ANSWER_SCHEMAS: Readonly<Record<string, string>> = {
  "sampling/createMessage": "CreateMessageResultSchema",
  "roots/list": "ListRootsResultSchema",
  "elicitation/create": "ElicitResultSchema",
};

function progressTokenOf(params: JsonObject): unknown {
  return (params["_meta"] as JsonObject | undefined)?.["progressToken"];
}

/** A server of the revision on the SDK of its time, for one session, not connected yet. */
export function createOlderServer(sdk: OldSdk, revision: OlderRevision): OldServer {
  const server = new sdk.Server(
    { name: `server-of-${revision}`, version: "1.0.0" },
    { capabilities: capabilitiesOf(revision), instructions: "Ask for notes." },
  );
  const notify = (extra: OldExtra, message: JsonObject): Promise<void> =>
    extra.sendNotification?.(message) ?? server.notification(message);
  const ask = (extra: OldExtra, method: string, params: JsonObject): Promise<JsonObject> => {
    const schema = sdk.types[ANSWER_SCHEMAS[method] ?? ""];
    const request = { method, params };
    return extra.sendRequest?.(request, schema) ?? server.request(request, schema);
  };
  for (const [method, handler] of Object.entries(handlersOf(revision))) {
    server.setRequestHandler(
      sdk.types[REQUEST_SCHEMAS[method] ?? ""],
      async ({ params = {} }, extra) =>
        await handler(params, {
          revision,
          capabilities: server.getClientCapabilities() ?? {},
          signal: extra.signal,
          progressToken: progressTokenOf(params),
          ask: (name, body) => ask(extra, name, body),
          notify: (name, body) => notify(extra, { method: name, params: body }),
        }),
    );
  }
  return server;
}
