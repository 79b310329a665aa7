import { expect, test } from "vitest";
import { expectError, params, requestText, startTalk } from "../front/http/modern-conversation.js";

const HEADERS = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

test("nesting without end is refused before anything is forwarded", () => {
  const talk = startTalk();
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const reply = talk.postText(requestText("1", "tools/list", params(`,"x":${deep}`)), HEADERS);
  expectError(reply, 400, null, -32700);
  const opened = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${"[".repeat(100_000)}`;
  expectError(talk.postText(opened, HEADERS), 400, null, -32700);
  expect(talk.calls).toEqual([]);
});

test("bytes behind the message are no part of it", () => {
  const talk = startTalk();
  const body = requestText("1", "tools/list", params());
  for (const tail of [body, "\u0000", "}", "//", "\n{}"]) {
    expectError(talk.postText(body + tail, HEADERS), 400, null, -32700);
  }
  expect(talk.calls).toEqual([]);
});

test("names that every object has are names like others", () => {
  const talk = startTalk();
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    const reply = talk.post("1", name, params(`,"${name}":{"${name}":1}`));
    expect(reply.status).toBeUndefined();
    expect(talk.calls.at(-1)?.operation.method).toBe(name);
  }
});

test("an envelope given twice counts as its last value", () => {
  const talk = startTalk();
  const foreign = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}';
  talk.post("1", "tools/list", `{${foreign},${params().slice(1)}`);
  expect(talk.calls).toHaveLength(1);
  expectError(talk.post("1", "tools/list", `${params().slice(0, -1)},${foreign}}`), 400, 1, -32602);
});

test("a refusal never repeats a long name in full", () => {
  const talk = startTalk({ forwardUnknown: false });
  const method = "x".repeat(1_000_000);
  const reply = talk.post("1", method, params());
  expectError(reply, 404, 1, -32601);
  expect(reply.body.length).toBeLessThan(1_000);
});

test("ids come back with the characters they had", () => {
  const talk = startTalk();
  for (const id of [
    "0",
    '""',
    "-1",
    "1.5",
    "9007199254740993",
    "1e2",
    '"\\ud83d"',
    `"${"i".repeat(200)}"`,
  ]) {
    const reply = talk.post(id, "ping", params());
    expect(reply.status).toBe(404);
    expect(reply.body).toContain(`"id":${id},`);
  }
});
