import { type CallRecord, LIST_NAMES, LISTS, type ListName } from "./catalogue.js";
import type { Closing, LabClient, Reply } from "./client.js";
import { type FurtherRequest, furtherRequests } from "./further.js";
import { isObject, type Json, type JsonObject } from "./json.js";
import { filled, type Place, portable } from "./places.js";

export interface ListSeen {
  readonly items: readonly Json[];
  /** The result of each page, without its items. */
  readonly pages: readonly JsonObject[];
  /** The reply that ended it early. */
  readonly failure?: Reply;
}

/** All that a client saw of a server. Paths of this machine are taken out. */
export interface Observation {
  readonly opening: Reply;
  readonly lists: Readonly<Partial<Record<ListName, ListSeen>>>;
  /** One reply for each safe call of the record. */
  readonly calls: readonly Reply[];
  /** What was asked beyond the record, and the replies. */
  readonly further: readonly Further[];
  readonly closing: Closing;
}

export interface Further extends FurtherRequest {
  readonly reply: Reply;
}

/** Some servers add tools, or ask for roots, a moment after the handshake. */
const SETTLE_MS = 300;
const IDLE_MS = 700;
const CALL_WAIT_MS = 8_000;
const MOST_PAGES = 50;

async function observeList(client: LabClient, name: ListName): Promise<ListSeen> {
  const items: Json[] = [];
  const pages: JsonObject[] = [];
  let params: JsonObject = {};
  while (pages.length < MOST_PAGES) {
    const reply = await client.request(LISTS[name].method, params);
    if (!("result" in reply)) return { items, pages, failure: reply };
    const { [name]: page, ...rest } = reply.result;
    if (!Array.isArray(page))
      return { items, pages, failure: { nothing: "an answer that is none" } };
    items.push(...page);
    pages.push(rest);
    const { nextCursor } = rest;
    if (typeof nextCursor !== "string") break;
    params = { cursor: nextCursor };
  }
  return { items, pages };
}

/** Handshake, every list, the safe calls, in this order and with these pauses. */
export async function observe(
  client: LabClient,
  calls: readonly CallRecord[],
  place: Place,
): Promise<Observation> {
  const pause = (ms: number): Promise<unknown> =>
    Promise.race([client.ended, new Promise((resolve) => setTimeout(resolve, ms))]);
  const opening = await client.open();
  const lists: Partial<Record<ListName, ListSeen>> = {};
  const replies: Reply[] = [];
  const further: Further[] = [];
  if ("result" in opening) {
    await pause(SETTLE_MS);
    const { capabilities } = opening.result;
    for (const name of LIST_NAMES) {
      const offered = isObject(capabilities) && isObject(capabilities[LISTS[name].capability]);
      if (offered || name === "tools") lists[name] = await observeList(client, name);
    }
    await pause(IDLE_MS);
    for (const { name, arguments: given } of calls) {
      const args: JsonObject = JSON.parse(filled(JSON.stringify(given), place));
      const params = { name, arguments: args };
      replies.push(await client.request("tools/call", params, CALL_WAIT_MS));
    }
    for (const request of furtherRequests(lists)) {
      const reply = await client.request(request.method, request.params, CALL_WAIT_MS);
      further.push({ ...request, reply });
      if ("nothing" in reply) break;
    }
  }
  const closing = await client.close();
  return { ...portable({ opening, lists, calls: replies, further }, place), closing };
}
