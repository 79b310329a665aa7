import type { Bridge } from "../../src/index.js";
import { createModernClient, type ModernClient } from "../demo/modern-client.js";
import type { Json } from "../demo/peer.js";
import { createChannelPair } from "../memory/channel-pair.js";
import type { EraFacts, Witness } from "./witness.js";

/** What a server is and offers, as a modern client sees it through the bridge. */
export interface Survey extends EraFacts {
  readonly name: string;
  readonly version: string;
  readonly capabilities: Json;
  /** Names of tools and prompts, addresses of resources and templates. */
  readonly offers: Readonly<Record<string, readonly string[]>>;
  /** Lists that were advertised and then refused, with the reason. */
  readonly faults: readonly string[];
}

const LISTS = [
  { capability: "tools", method: "tools/list", member: "tools", label: "name" },
  { capability: "prompts", method: "prompts/list", member: "prompts", label: "name" },
  { capability: "resources", method: "resources/list", member: "resources", label: "uri" },
  {
    capability: "resources",
    method: "resources/templates/list",
    member: "resourceTemplates",
    label: "uriTemplate",
  },
] as const;

type List = (typeof LISTS)[number];

async function readList(
  client: ModernClient,
  list: List,
  maxPages: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages; page += 1) {
    const result = await client.call(list.method, cursor === undefined ? {} : { cursor });
    const items = result[list.member];
    for (const item of Array.isArray(items) ? items : []) {
      found.push(String((item as Json)[list.label]));
    }
    const next = result["nextCursor"];
    if (typeof next !== "string" || next === cursor) break;
    cursor = next;
  }
  return found;
}

/** Looks at a server through its bridge: what it says of itself and what it lists. Calls nothing. */
export async function survey(bridge: Bridge, witness: Witness, maxPages: number): Promise<Survey> {
  const pair = createChannelPair();
  const ended = bridge.accept(pair.right);
  const client = createModernClient(pair.left);
  const discovered = await client.call("server/discover");
  const capabilities = (discovered["capabilities"] ?? {}) as Json;
  const offers: Record<string, readonly string[]> = {};
  const faults: string[] = [];
  for (const list of LISTS) {
    if (capabilities[list.capability] === undefined) continue;
    try {
      offers[list.member] = await readList(client, list, maxPages);
    } catch (error) {
      faults.push(`${list.method}: ${error instanceof Error ? error.message : error}`);
    }
  }
  await client.close();
  await ended;
  const meta = (discovered["_meta"] ?? {}) as Json;
  const server = (meta["io.modelcontextprotocol/serverInfo"] ?? {}) as Json;
  return {
    name: String(server["name"] ?? "unnamed"),
    version: String(server["version"] ?? "unknown"),
    ...witness.era(),
    capabilities,
    offers,
    faults,
  };
}
