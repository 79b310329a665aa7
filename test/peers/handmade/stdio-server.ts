/**
 * Legacy servers on stdio with the habits that deployed ones have:
 *
 *   tsx stdio-server.ts HABIT [FILE]
 *
 * It says on stderr which methods it was sent, and adds a line to the file when it starts.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import {
  initializeResult,
  ordinaryAnswer,
  type RawMessage,
  refusal,
  reply,
} from "./legacy-answers.js";

const [, , habit = "", starts] = process.argv;
if (starts !== undefined) appendFileSync(starts, `${process.pid}\n`);
const write = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

let waiting: RawMessage[] = [];
let asked: unknown;

/** Answers two calls in one array, and asks the client inside of another. */
function inArrays(message: RawMessage): void {
  const { id, method, params, result } = message;
  if (result !== undefined) {
    const text = JSON.stringify(result);
    write([reply(asked, { content: [{ type: "text", text }] })]);
    return;
  }
  if (method !== "tools/call") {
    const answer = ordinaryAnswer(message);
    if (answer !== undefined) write([answer]);
    return;
  }
  if (params?.["name"] === "ask") {
    asked = id;
    const question = { role: "user", content: { type: "text", text: "why?" } };
    write([
      {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "info", data: "asking" },
      },
      {
        jsonrpc: "2.0",
        id: "question",
        method: "sampling/createMessage",
        params: { messages: [question], maxTokens: 5 },
      },
    ]);
    return;
  }
  waiting.push(message);
  if (waiting.length < 2) return;
  write(waiting.map(ordinaryAnswer));
  waiting = [];
}

const unknownMethod = ({ id }: RawMessage, code: number): void => {
  if (id !== undefined) write(refusal(id, code, "not before initialize"));
};

/** What each habit does with the messages that come before `initialize`. */
const BEFORE: Readonly<Record<string, (message: RawMessage) => void>> = {
  "refuses-32600": (message) => unknownMethod(message, -32600),
  "refuses-32601": (message) => unknownMethod(message, -32601),
  "refuses-32602": (message) => unknownMethod(message, -32602),
  "refuses-32002": (message) => unknownMethod(message, -32002),
  silent: () => undefined,
  dies: () => process.exit(1),
  "refuses-and-dies": ({ id }) => {
    const answer = JSON.stringify(refusal(id, -32600, "initialize comes first"));
    process.stdout.write(`${answer}\n`, () => process.exit(1));
  },
  "dies-in-a-line": () => void process.stdout.write('{"jsonrpc":"2.0","id', () => process.exit(1)),
  late: ({ id }) => void setTimeout(() => write(refusal(id, -32601, "late")), 2_500),
};

/** How each habit answers `initialize`, if not with 2025-06-18. */
const INITIALIZE: Readonly<Record<string, (message: RawMessage) => object>> = {
  arrays: ({ id }) => reply(id, initializeResult("2025-03-26")),
  "counter-offers": ({ id }) => reply(id, initializeResult("2024-11-05")),
  "offers-the-unknown": ({ id }) => reply(id, initializeResult("1999-12-31")),
  "lists-versions": ({ id, params }) =>
    params?.["protocolVersion"] === "2025-03-26"
      ? reply(id, initializeResult("2025-03-26"))
      : refusal(id, -32602, "Unsupported protocol version", { supported: ["2025-03-26"] }),
};

let open = false;
createInterface({ input: process.stdin }).on("line", (line) => {
  const message: RawMessage = JSON.parse(line);
  process.stderr.write(`got ${message.method ?? "a response"}\n`);
  if (message.method === "initialize") {
    open = true;
    const answer = INITIALIZE[habit] ?? (({ id }) => reply(id, initializeResult("2025-06-18")));
    write(answer(message));
  } else if (!open) {
    (BEFORE[habit] ?? ((early) => unknownMethod(early, -32601)))(message);
  } else if (habit === "arrays") {
    inArrays(message);
  } else {
    const answer = ordinaryAnswer(message);
    if (answer !== undefined) write(answer);
  }
});
