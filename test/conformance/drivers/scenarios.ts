type Arguments = Record<string, unknown>;

interface ListedTool {
  readonly name: string;
  readonly inputSchema: unknown;
}

/** What a scenario needs of a client; both SDK clients fit. */
export interface ScenarioClient {
  listTools(): Promise<{ readonly tools: readonly ListedTool[] }>;
  callTool(params: { name: string; arguments: Arguments }): Promise<unknown>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  readResource(params: { uri: string }): Promise<unknown>;
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>;
  getPrompt(params: { name: string }): Promise<unknown>;
}

interface ToolCalls {
  readonly toolCalls: readonly { name: string; arguments: Arguments }[];
}

type Scenario = (client: ScenarioClient) => Promise<void>;

async function list(client: ScenarioClient): Promise<void> {
  await client.listTools();
}

async function callEveryTool(client: ScenarioClient, args: Arguments): Promise<void> {
  const { tools } = await client.listTools();
  await Promise.all(tools.map(({ name }) => client.callTool({ name, arguments: args })));
}

async function useEverything(client: ScenarioClient): Promise<void> {
  await callEveryTool(client, {});
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
  const { prompts } = await client.listPrompts();
  for (const { name } of prompts) await client.getPrompt({ name });
}

async function makeGivenCalls(client: ScenarioClient): Promise<void> {
  const { toolCalls }: ToolCalls = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "");
  await client.listTools();
  for (const call of toolCalls) await client.callTool(call);
}

async function echoSchema(client: ScenarioClient): Promise<void> {
  const { tools } = await client.listTools();
  const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
  await client.callTool({ name: "json_schema_echo", arguments: { schema } });
}

/** What the client does in each client scenario of the official suite. */
const scenarios: Readonly<Record<string, Scenario>> = {
  initialize: list,
  "request-metadata": list,
  "json-schema-ref-no-deref": list,
  tools_call: async (client) => {
    await client.listTools();
    await client.callTool({ name: "add_numbers", arguments: { a: 5, b: 3 } });
  },
  "elicitation-sep1034-client-defaults": (client) => callEveryTool(client, {}),
  "sse-retry": (client) => callEveryTool(client, {}),
  "sep-2322-client-request-state": (client) => callEveryTool(client, {}),
  "json-schema-2020-12-preservation": echoSchema,
  "http-standard-headers": useEverything,
  "http-custom-headers": makeGivenCalls,
  // Every tool that the client sees at all: those with invalid annotations must be hidden from it.
  "http-invalid-tool-headers": (client) => callEveryTool(client, { region: "us-west1" }),
};

/** Plays the scenario that the suite names in the environment. */
export async function playScenario(client: ScenarioClient): Promise<void> {
  const name = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Error(`no such client scenario: ${name}`);
  await scenario(client);
}
