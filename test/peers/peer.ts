import type { Client as ModernClient } from "@modelcontextprotocol/client";
import type { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  type Answers,
  connectLegacy,
  connectModern,
  type Place,
  withoutEraFields,
} from "../support/sdk-peers.js";

export type JsonObject = Record<string, unknown>;

export interface RequestOptions {
  readonly onprogress?: (progress: JsonObject) => void;
  readonly signal?: AbortSignal;
}

/** A client of either era, by method and params. */
export interface Peer {
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Requests without the types of each method: what is compared is what was answered. */
interface AnyClient {
  request(request: JsonObject, options?: RequestOptions): Promise<JsonObject>;
}

export interface ModernPeer extends Peer {
  readonly client: ModernClient;
}

export interface LegacyPeer extends Peer {
  readonly client: LegacyClient;
}

/** The official v2 client pinned to 2026-07-28; its answers without what the era adds to them. */
export async function modernPeer(place: Place, answers: Answers = {}): Promise<ModernPeer> {
  const client = await connectModern(place, answers);
  return {
    client,
    request: async (method, params = {}, options = {}) => {
      const request = { method, params };
      const answered = await (client as unknown as AnyClient).request(request, options);
      return withoutServerInfo(withoutEraFields(answered) as JsonObject);
    },
    close: () => client.close(),
  };
}

/** The official v1 client in its newest release, which speaks 2025-11-25. */
export async function legacyPeer(place: Place, answers: Answers = {}): Promise<LegacyPeer> {
  const client = await connectLegacy(place, answers);
  return {
    client,
    request: async (method, params = {}, options = {}) => {
      const answered = await client.request({ method, params }, ResultSchema, { ...options });
      return withoutServerInfo(withoutEraFields(answered) as JsonObject);
    },
    close: () => client.close(),
  };
}

/** A modern result names the server that made it; a legacy one cannot. */
function withoutServerInfo({ _meta, ...result }: JsonObject): JsonObject {
  if (_meta === undefined) return result;
  const { "io.modelcontextprotocol/serverInfo": _server, ...kept } = _meta as JsonObject;
  return { ...result, _meta: kept };
}

/** Every item of a list, and how many there were on each page. */
export async function wholeList(
  peer: Peer,
  method: string,
  key: string,
): Promise<{ readonly items: readonly unknown[]; readonly pages: readonly number[] }> {
  const items: unknown[] = [];
  const pages: number[] = [];
  let cursor: unknown;
  do {
    const page = await peer.request(method, cursor === undefined ? {} : { cursor });
    const here = page[key] as unknown[];
    items.push(...here);
    pages.push(here.length);
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return { items, pages };
}

export const callTool = (
  peer: Peer,
  name: string,
  args: JsonObject = {},
  options: RequestOptions = {},
): Promise<JsonObject> => peer.request("tools/call", { name, arguments: args }, options);

/** The text of a result's first block. */
export function firstText(result: JsonObject): string {
  const [block] = result["content"] as { readonly text?: string }[];
  return block?.text ?? "";
}

/** How a request fails: its code and its data. */
export async function failure(
  request: Promise<unknown>,
): Promise<{ readonly code: unknown; readonly message: string; readonly data: unknown }> {
  const error: unknown = await request.then(
    (value) => {
      throw new Error(`no failure but ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  const {
    code,
    message = "",
    data,
  } = error as { code?: unknown; message?: string; data?: unknown };
  return { code, message, data };
}
