import {
  answerTo,
  CAPABILITIES,
  CLIENT_INFO,
  createQuestions,
  type LabClient,
  type Offence,
  type Reply,
  replyOf,
  START_WAIT_MS,
  WAIT_MS,
} from "./client.js";
import type { Command } from "./isolation.js";
import { isObject, type JsonObject } from "./json.js";
import { startLines } from "./line-process.js";
import type { Place } from "./places.js";

/** The bridge lets its server end gently before it leaves itself. */
export const MODERN_GRACE_MS = 12_000;
/** Rounds of questions in one call. */
const MOST_ROUNDS = 10;

const ENVELOPE: JsonObject = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
  "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
};

/** The members that carry an answer to `input_required` in the retry, 2026-07-28/basic/patterns/mrtr. */
function nextRound({ inputRequests, requestState }: JsonObject, home: string): JsonObject {
  const questions = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  const answers = questions.map(([key, question]) => [
    key,
    answerTo(isObject(question) ? question["method"] : undefined, home) ?? {},
  ]);
  return {
    inputResponses: Object.fromEntries(answers),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** A client of 2026-07-28 that never heard of sessions. It notes each thing a server may not do. */
export function connectModern(command: Command, place: Place, deadlineMs: number): LabClient {
  const questions = createQuestions();
  const offences: Offence[] = [];
  const offend = (what: string, detail: string) => offences.push({ what, detail });
  const receive = (message: JsonObject): void => {
    const { jsonrpc, id, method } = message;
    if (jsonrpc !== "2.0")
      offend("a message without jsonrpc 2.0", JSON.stringify(message).slice(0, 80));
    if (method !== undefined) {
      // Nothing was subscribed to, and no request asked for progress or a log level.
      const kind = id === undefined ? "a notification" : "a request";
      offend(`${kind} of the server`, `${method}`);
    } else if (!questions.answer(id, replyOf(message)))
      offend("an answer to nothing", `id ${JSON.stringify(id)}`);
  };
  const process = startLines(command, receive, deadlineMs);
  void process.ended.then(questions.abandon);
  const request = async (method: string, params: JsonObject, waitMs = WAIT_MS): Promise<Reply> => {
    let added: JsonObject = {};
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const sent = { ...params, ...added, _meta: ENVELOPE };
      const reply = await questions.ask(
        (id) => process.send({ jsonrpc: "2.0", id, method, params: sent }),
        waitMs,
      );
      if (!("result" in reply) || reply.result["resultType"] !== "input_required") return reply;
      added = nextRound(reply.result, place.home);
    }
    offend("questions without end", method);
    return { nothing: "an answer that is none" };
  };
  return {
    ended: process.ended,
    request,
    open: () => request("server/discover", {}, START_WAIT_MS),
    close: async () => {
      const ending = await process.close(MODERN_GRACE_MS);
      for (const line of process.noise) offend("no message on standard output", line);
      return { ...ending, offences, complaints: process.complaints() };
    },
  };
}
