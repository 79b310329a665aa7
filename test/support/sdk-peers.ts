import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** Where a client connects: an endpoint, or a command it starts. */
export type Place =
  | { readonly url: string; readonly token?: string }
  | { readonly command: readonly string[] };

/** How the scripted user of a client answers; absent members are not declared as capabilities. */
export interface Answers {
  readonly elicit?: (params: Record<string, unknown>) => Record<string, unknown>;
  readonly elicitModes?: Record<string, object>;
  readonly sample?: (params: Record<string, unknown>) => Record<string, unknown>;
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[];
}

function capabilitiesOf(answers: Answers): Record<string, object> {
  return {
    ...(answers.elicit ? { elicitation: answers.elicitModes ?? {} } : {}),
    ...(answers.sample ? { sampling: {} } : {}),
    ...(answers.roots ? { roots: {} } : {}),
  };
}

function requestInit({ token }: { readonly token?: string }): {
  requestInit?: { headers: Record<string, string> };
} {
  return token === undefined
    ? {}
    : { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

/** The official v2 client, pinned to 2026-07-28. */
export async function connectModern(
  place: Place,
  answers: Answers = {},
  name = "modern-client",
): Promise<ModernClient> {
  const client = new ModernClient(
    { name, version: "1.0.0" },
    {
      capabilities: capabilitiesOf(answers),
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    },
  );
  const { elicit, sample, roots } = answers;
  if (elicit) {
    client.setRequestHandler(
      "elicitation/create",
      async (request) => elicit(request.params) as never,
    );
  }
  if (sample) {
    client.setRequestHandler(
      "sampling/createMessage",
      async (request) => sample(request.params) as never,
    );
  }
  if (roots) client.setRequestHandler("roots/list", async () => ({ roots: [...roots] }));
  const [command = "", ...args] = "command" in place ? place.command : [];
  await client.connect(
    "url" in place
      ? new StreamableHTTPClientTransport(new URL(place.url), requestInit(place))
      : new StdioClientTransport({ command, args, stderr: "ignore" }),
  );
  return client;
}

/** The official v1 client. */
export async function connectLegacy(
  place: Place,
  answers: Answers = {},
  name = "legacy-client",
): Promise<LegacyClient> {
  const client = new LegacyClient(
    { name, version: "1.0.0" },
    { capabilities: capabilitiesOf(answers) },
  );
  const { elicit, sample, roots } = answers;
  if (elicit) {
    client.setRequestHandler(
      ElicitRequestSchema,
      async (request) => elicit(request.params) as never,
    );
  }
  if (sample) {
    client.setRequestHandler(
      CreateMessageRequestSchema,
      async (request) => sample(request.params) as never,
    );
  }
  if (roots) client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [...roots] }));
  const [command = "", ...args] = "command" in place ? place.command : [];
  const transport =
    "url" in place
      ? new LegacyHttp(new URL(place.url), requestInit(place))
      : new LegacyStdio({ command, args, stderr: "ignore" });
  await client.connect(transport as Parameters<LegacyClient["connect"]>[0]);
  return client;
}

/** What the eras themselves add to results, taken away for comparing the rest. */
export function withoutEraFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEraFields);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !["resultType", "ttlMs", "cacheScope", "execution"].includes(key))
    .map(([key, inner]) => [key, withoutEraFields(inner)] as const)
    .filter(([key, inner]) => !(key === "_meta" && isEmptyMeta(inner)));
  return Object.fromEntries(entries);
}

function isEmptyMeta(meta: unknown): boolean {
  const keys = Object.keys(typeof meta === "object" && meta !== null ? meta : {});
  return keys.every((key) => key === "io.modelcontextprotocol/serverInfo");
}
