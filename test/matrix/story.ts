import { setTimeout as sleep } from "node:timers/promises";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  callTool,
  firstText,
  type JsonObject,
  legacyPeer,
  modernPeer,
  type Peer,
  wholeList,
} from "../peers/peer.js";
import type { Answers, Place } from "../support/sdk-peers.js";
import type { Side } from "./cells.js";

/** What a client lived through with a server; plain data, without what the eras themselves add. */
export interface Story {
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  readonly progress: { readonly text: string; readonly values: readonly unknown[] };
  /** The whole results of tools that ask, and what the client was asked by them. */
  readonly answered: readonly JsonObject[];
  readonly questions: readonly unknown[];
  /** How the client's call ended, and whether the server learnt of it. */
  readonly cancelled: { readonly client: string; readonly server: string };
  readonly changes: readonly string[];
  readonly large: { readonly length: number; readonly sound: boolean };
  /** A failing tool, an unknown one, an unknown resource, an unknown prompt. */
  readonly errors: Readonly<Record<"tool" | "noTool" | "noResource" | "noPrompt", unknown>>;
}

const WATCHED = "test://watched-resource";
const LARGE = 5_000_000;
const FORM = { name: "Ada", color: "green", ok: true };

interface Watcher extends Peer {
  /** Hears of changed tools and of the watched resource from now on. */
  watch(heard: (what: string) => void): Promise<void>;
}

async function connect({ era }: Side, place: Place, answers: Answers): Promise<Watcher> {
  if (era === "modern") {
    const peer = await modernPeer(place, answers);
    return {
      ...peer,
      async watch(heard) {
        const { client } = peer;
        client.setNotificationHandler("notifications/tools/list_changed", () => heard("tools"));
        client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
          heard(params.uri),
        );
        await client.listen({ toolsListChanged: true, resourceSubscriptions: [WATCHED] });
      },
    };
  }
  const peer = await legacyPeer(place, answers);
  return {
    ...peer,
    async watch(heard) {
      const { client } = peer;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => heard("tools"));
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
        heard(params.uri),
      );
      await client.subscribeResource({ uri: WATCHED });
    },
  };
}

/** Waits until something is so; false when that takes too long. */
async function soon(check: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (await check()) return true;
    await sleep(50);
  }
  return false;
}

/** Each step of the tool waits for the client, so that none is overlooked beside the answer. */
async function progress(peer: Peer, name: string): Promise<Story["progress"]> {
  const values: unknown[] = [];
  const steps: Promise<unknown>[] = [];
  const onprogress = ({ progress, total }: JsonObject): void => {
    values.push([progress, total]);
    steps.push(callTool(peer, "test_go_on", { name }));
  };
  const result = await callTool(peer, "test_paced", { name }, { onprogress });
  await Promise.all(steps);
  return { text: firstText(result), values };
}

const ASKING = ["elicitation", "sampling", "list_roots", "multiple_inputs", "multi_round"];

async function ask(peer: Peer): Promise<Story["answered"]> {
  const results: JsonObject[] = [];
  for (const name of ASKING) {
    results.push(await callTool(peer, `test_input_required_result_${name}`));
  }
  return results;
}

async function cancel(peer: Peer, name: string): Promise<Story["cancelled"]> {
  const giveUp = new AbortController();
  const options = { signal: giveUp.signal, onprogress: () => giveUp.abort() };
  const client = await callTool(peer, "test_wait", { name }, options).then(
    () => "answered",
    () => "given up",
  );
  let server = "";
  await soon(async () => {
    server = firstText(await callTool(peer, "test_was_cancelled", { name }));
    return server === "yes";
  });
  return { client, server };
}

function inOrder(texts: readonly string[]): readonly string[] {
  return texts.toSorted((one, other) => one.localeCompare(other));
}

async function change(peer: Watcher): Promise<readonly string[]> {
  const heard = new Set<string>();
  await peer.watch((what) => heard.add(what));
  await callTool(peer, "test_trigger_tool_change");
  await callTool(peer, "test_trigger_resource_update");
  await soon(() => heard.has("tools") && heard.has(WATCHED));
  return inOrder([...heard]);
}

async function large(peer: Peer): Promise<Story["large"]> {
  const text = firstText(await callTool(peer, "test_large_text", { length: LARGE }));
  return { length: text.length, sound: text === "0123456789".repeat(LARGE / 10) };
}

/** What a request comes to: its result, or the code and the data of its error. */
async function outcome(request: Promise<unknown>): Promise<unknown> {
  return await request.catch(
    ({ code, data }: { readonly code: unknown; readonly data: unknown }) =>
      data === undefined ? { code } : { code, data },
  );
}

async function fail(peer: Peer): Promise<Story["errors"]> {
  return {
    tool: await outcome(callTool(peer, "test_error_handling")),
    noTool: await outcome(callTool(peer, "no_such_tool")),
    noResource: await outcome(peer.request("resources/read", { uri: "test://nowhere" })),
    noPrompt: await outcome(peer.request("prompts/get", { name: "no_such_prompt" })),
  };
}

/** What a client is asked, without what only says how the question travelled. */
function question({ _meta, mode, ...params }: JsonObject): JsonObject {
  return params;
}

/** Lives through the whole story; `name` tells its calls from those of others at the same server. */
export async function liveThrough(client: Side, place: Place, name: string): Promise<Story> {
  const questions: unknown[] = [];
  const peer = await connect(client, place, {
    elicit(params) {
      questions.push(question(params));
      return { action: "accept", content: FORM };
    },
    sample(params) {
      questions.push(question(params));
      return { role: "assistant", model: "m", content: { type: "text", text: "Hello there!" } };
    },
    roots: [{ uri: "file:///work", name: "work" }],
  });
  const list = async (method: string, key: string) => (await wholeList(peer, method, key)).items;
  try {
    return {
      tools: await list("tools/list", "tools"),
      prompts: await list("prompts/list", "prompts"),
      resources: await list("resources/list", "resources"),
      templates: await list("resources/templates/list", "resourceTemplates"),
      progress: await progress(peer, name),
      answered: await ask(peer),
      questions: inOrder(questions.map((asked) => JSON.stringify(asked))),
      cancelled: await cancel(peer, name),
      changes: await change(peer),
      large: await large(peer),
      errors: await fail(peer),
    };
  } finally {
    await peer.close();
  }
}
