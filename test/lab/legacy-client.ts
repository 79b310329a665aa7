import {
  answerTo,
  CAPABILITIES,
  CLIENT_INFO,
  createQuestions,
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
import { isRefusedDirectly } from "./legacy-verdict.js";
import { startLines } from "./line-process.js";
import type { Place } from "./places.js";

/** How long a server may take to leave when its input ends. */
const GRACE_MS = 2_000;

function answered(request: JsonObject, home: string): JsonObject {
  const { id = null, method } = request;
  const result = method === "ping" ? {} : answerTo(method, home);
  const answer =
    result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
  return { jsonrpc: "2.0", id, ...answer };
}

/** A client of 2025-11-25 that speaks with a server directly. */
export function connectLegacy(command: Command, place: Place, deadlineMs: number): LabClient {
  const questions = createQuestions();
  const process = startLines(
    command,
    (message) => {
      if (message["method"] === undefined) questions.answer(message["id"], replyOf(message));
      else if (message["id"] !== undefined) process.send(answered(message, place.home));
    },
    deadlineMs,
  );
  void process.ended.then(questions.abandon);
  const offences: Offence[] = [];
  const request = async (method: string, params: JsonObject, waitMs = WAIT_MS): Promise<Reply> => {
    const reply = await questions.ask(
      (id) => process.send({ jsonrpc: "2.0", id, method, params }),
      waitMs,
    );
    if (isRefusedDirectly(method, reply)) offences.push(refusal(method, ""));
    return reply;
  };
  return {
    ended: process.ended,
    request,
    open: async () => {
      const reply = await request(
        "initialize",
        { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, clientInfo: CLIENT_INFO },
        START_WAIT_MS,
      );
      if ("result" in reply) process.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      return reply;
    },
    close: async () => ({
      ...(await process.close(GRACE_MS)),
      offences,
      complaints: process.complaints(),
    }),
  };
}
