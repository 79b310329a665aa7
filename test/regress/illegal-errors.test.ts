import { expect, test } from "vitest";
import { createRig, legacyServer, talkOn } from "./rig.js";

/** What clients of either era get where the server's error object is not one. */
const CASES: readonly (readonly [string, string, object])[] = [
  [
    "without a code",
    '{"message":"boom"}',
    { code: -32603, message: "boom", data: { originalError: { message: "boom" } } },
  ],
  [
    "with a word as its code",
    '{"code":"EBOOM","message":"boom","data":7}',
    { code: -32603, message: "boom", data: 7 },
  ],
  [
    "with an object as its message",
    '{"code":5,"message":{}}',
    {
      code: 5,
      message: "the server gave no message",
      data: { originalError: { code: 5, message: {} } },
    },
  ],
  ["that is one", '{"code":5,"message":"boom","more":1.0}', { code: 5, message: "boom", more: 1 }],
];

const failing = (error: string) =>
  legacyServer(({ id, method }, say) => {
    if (method === "tools/call") say(`{"jsonrpc":"2.0","id":${id},"error":${error}}`);
  });

test.each(CASES)(
  "an error %s reaches a modern client as an answer it can read",
  async (_, error, expected) => {
    const rig = createRig(failing(error));
    const reply = rig.modern(1, "tools/call", { name: "x" });
    await talkOn();
    expect(JSON.parse(reply.body)).toEqual({ jsonrpc: "2.0", id: 1, error: expected });
    await rig.bridge.close();
  },
);

test.each(CASES)(
  "an error %s reaches a legacy client as an answer it can read",
  async (_, error, expected) => {
    const rig = createRig(failing(error));
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const opened = rig.legacy({ id: 0, method: "initialize", params });
    await talkOn();
    const session = { "mcp-session-id": opened.headers["mcp-session-id"] ?? "" };
    rig.legacy({ method: "notifications/initialized" }, session);
    const reply = rig.legacy({ id: 1, method: "tools/call", params: { name: "x" } }, session);
    await talkOn();
    expect(JSON.parse(reply.body)).toEqual({ jsonrpc: "2.0", id: 1, error: expected });
    await rig.bridge.close();
  },
);
