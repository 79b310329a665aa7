import { Client, type JSONRPCMessage } from "@modelcontextprotocol/client";
import {
  answerTo,
  CAPABILITIES,
  type LabClient,
  type Offence,
  type Reply,
  refusal,
  replyOf,
  START_WAIT_MS,
  WAIT_MS,
} from "./client.js";
import type { Command } from "./isolation.js";
import type { JsonObject } from "./json.js";
import { type LineProcess, startLines } from "./line-process.js";
import { MODERN_GRACE_MS } from "./modern-client.js";
import type { Place } from "./places.js";

/** Passes whatever arrives, for methods the client has no schema of. */
const ANYTHING = {
  "~standard": { version: 1, vendor: "lab", validate: (value: unknown) => ({ value }) },
} as const;
const QUESTIONS = ["roots/list", "elicitation/create", "sampling/createMessage"] as const;

type Transport = Parameters<Client["connect"]>[0];

/** A transport over a process, whose last reply can be read as it came. */
function createTransport(start: (onMessage: (message: JsonObject) => void) => LineProcess): {
  readonly transport: Transport;
  readonly process: LineProcess;
  lastReply(): Reply | undefined;
} {
  let reply: Reply | undefined;
  const process = start((message) => {
    if (message["method"] === undefined) reply = replyOf(message);
    transport.onmessage?.(message as JSONRPCMessage);
  });
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => {
      reply = undefined;
      process.send(message as JsonObject);
    },
    close: async () => transport.onclose?.(),
  };
  void process.ended.then(() => transport.onclose?.());
  return { transport, process, lastReply: () => reply };
}

/**
 * The official v2 client, pinned to 2026-07-28, sees what it sees; the replies are those it got,
 * before it took them apart. A result it refuses is an offence of the server.
 */
export function connectOfficial(command: Command, place: Place, deadlineMs: number): LabClient {
  const offences: Offence[] = [];
  const { transport, process, lastReply } = createTransport((onMessage) =>
    startLines(command, onMessage, deadlineMs),
  );
  const client = new Client(
    { name: "erabridge-lab", version: "1.0.0" },
    { capabilities: CAPABILITIES, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.onerror = ({ message }) =>
    offences.push({ what: "the official client complains", detail: message.slice(0, 200) });
  for (const method of QUESTIONS) {
    client.setRequestHandler(method, async () => answerTo(method, place.home) as never);
  }
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<Reply> => {
    const problem = await work().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const reply = lastReply();
    if (problem === undefined || (reply !== undefined && "error" in reply))
      return reply ?? { nothing: "an answer that is none" };
    offences.push(refusal(what, problem ?? "no answer"));
    return reply ?? { nothing: "silence" };
  };
  return {
    ended: process.ended,
    open: () =>
      attempt("server/discover", () => client.connect(transport, { timeout: START_WAIT_MS })),
    request: (method, params, timeout = WAIT_MS) =>
      attempt(method, () =>
        method.startsWith("erabridge/")
          ? client.request({ method, params }, ANYTHING, { timeout })
          : client.request({ method: method as "tools/list", params }, { timeout }),
      ),
    close: async () => {
      const ending = await process.close(MODERN_GRACE_MS);
      return { ...ending, offences, complaints: process.complaints() };
    },
  };
}
