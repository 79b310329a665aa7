// rules: envelope, parameter-headers, input-requests
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI, type RunningProcess, startProcess, startServe } from "../support/process.js";
import {
  createRawModernClient,
  envelopeText,
  type RawModernClient,
} from "../support/raw-modern-client.js";

const SERVER = fileURLToPath(new URL("../support/legacy-stdio-server.mjs", import.meta.url));
const running: RunningProcess[] = [];
const clients: RawModernClient[] = [];

async function open(mode: string, options: readonly string[] = []): Promise<RawModernClient> {
  const bridge = await startServe([process.execPath, SERVER, mode], options);
  running.push(bridge.process);
  const client = createRawModernClient(bridge.url, { capabilities: '{"elicitation":{}}' });
  clients.push(client);
  return client;
}

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(running.map((process) => process.stop()));
});

const HEADERS = { "mcp-method": "tools/call", "mcp-name": "echo" };
const body = (params: string, rest = '"id":7'): string =>
  `{"jsonrpc":"2.0",${rest},"method":"tools/call","params":${params}}`;
const params = (meta: string): string => `{"name":"echo","arguments":{},"_meta":{${meta}}}`;
const CAPABILITIES = '"io.modelcontextprotocol/clientCapabilities":{}';
const GOOD = body(params(envelopeText()));

describe("a running bridge refuses", () => {
  let client: RawModernClient;
  beforeAll(async () => {
    client = await open("normal", ["--max-body", "100kb"]);
  });

  const refused = async (
    text: string,
    headers: Record<string, string>,
    status: number,
    code: number,
    id: unknown,
  ): Promise<Record<string, unknown>> => {
    const answer = await client.post(text, headers);
    expect(answer.status).toBe(status);
    const message = JSON.parse(answer.message);
    expect(message.error.code).toBe(code);
    expect(message.id ?? null).toEqual(id);
    return message.error;
  };

  test.each([
    ["broken JSON", '{"jsonrpc":"2.0","id":7', -32700],
    ["an empty body", "", -32700],
    ["an array", `[${GOOD}]`, -32600],
    ["an empty array", "[]", -32600],
    ["a string", '"x"', -32600],
  ])("%s", async (_case, text, code) => {
    await refused(text, HEADERS, 400, code, null);
  });

  test.each([
    ["a message without method", '{"jsonrpc":"2.0","id":7}', -32600, 7],
    ["a message without jsonrpc", '{"id":"a","method":"tools/list"}', -32600, "a"],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, null],
  ])("%s", async (_case, text, code, id) => {
    await refused(text, HEADERS, 400, code, id);
  });

  test("an envelope without capabilities, and names what is missing", async () => {
    const meta = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"';
    const error = await refused(body(params(meta)), HEADERS, 400, -32602, 7);
    expect(JSON.stringify(error)).toContain("io.modelcontextprotocol/clientCapabilities");
  });

  test("a revision it does not speak, and lists those it does", async () => {
    const meta = `"io.modelcontextprotocol/protocolVersion":"2030-01-01",${CAPABILITIES}`;
    const error = await refused(
      body(params(meta)),
      { ...HEADERS, "mcp-protocol-version": "2030-01-01" },
      400,
      -32022,
      7,
    );
    expect(error["data"]).toMatchObject({ requested: "2030-01-01" });
    expect((error["data"] as { supported: string[] }).supported[0]).toBe("2026-07-28");
  });

  test.each([
    ["no Mcp-Method", { "mcp-name": "echo" }],
    ["no Mcp-Name", { "mcp-method": "tools/call" }],
    ["another method in the header", { "mcp-method": "tools/list", "mcp-name": "echo" }],
    ["another case of the method", { "mcp-method": "Tools/Call", "mcp-name": "echo" }],
    ["another name in the header", { "mcp-method": "tools/call", "mcp-name": "rm" }],
    ["bad Base64 in the name", { "mcp-method": "tools/call", "mcp-name": "=?base64?%%%?=" }],
    [
      "another revision in the header",
      { "mcp-method": "tools/call", "mcp-name": "echo", "mcp-protocol-version": "2025-11-25" },
    ],
  ] as const)("%s", async (_case, headers) => {
    await refused(GOOD, headers, 400, -32020, 7);
  });

  test("a body over the limit", async () => {
    const answer = await client.post(
      body(
        `{"name":"echo","arguments":{"x":"${"y".repeat(200_000)}"},"_meta":{${envelopeText()}}}`,
      ),
      HEADERS,
    );
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.message).error.message).toMatch(/longer than/);
  });

  test.each(["http://evil.example", "null"])("the origin %s", async (origin) => {
    const answer = await client.post(GOOD, { ...HEADERS, origin });
    expect(answer.status).toBe(403);
  });

  test("a foreign host", async () => {
    const answer = await client.post(GOOD, { ...HEADERS, host: "evil.example" });
    expect(answer.status).toBe(403);
  });

  test("a forged and an altered requestState, and the question stays answerable", async () => {
    const asked = await client.call("1", "ask", "{}");
    const { result } = JSON.parse(asked.message);
    expect(result.resultType).toBe("input_required");
    const [key = ""] = Object.keys(result.inputRequests);
    const retry = (state: string): Promise<{ status: number; message: string }> =>
      client.post(
        `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{},"inputResponses":{"${key}":{"action":"accept","content":{"ok":true}}},"requestState":${JSON.stringify(state)},"_meta":{${envelopeText('{"elicitation":{}}')}}}}`,
        { "mcp-method": "tools/call", "mcp-name": "ask" },
      );
    const state: string = result.requestState;
    const flipped = `${state.slice(0, -2)}${state.at(-2) === "A" ? "B" : "A"}${state.at(-1)}`;
    for (const bad of ["forged", flipped, `${state}x`]) {
      expect(JSON.parse((await retry(bad)).message).error.code).toBe(-32602);
    }
    const done = JSON.parse((await retry(state)).message);
    expect(done.result.content[0].text).toContain('"ok":true');
    expect(JSON.parse((await retry(state)).message).error.code).toBe(-32602);
  });

  test("an unknown method with 404, an unknown tool with 200", async () => {
    const unknown = await client.post(
      `{"jsonrpc":"2.0","id":3,"method":"acme/x","params":{"_meta":{${envelopeText()}}}}`,
      { "mcp-method": "acme/x" },
    );
    expect(unknown.status).toBe(404);
    expect(JSON.parse(unknown.message).error.code).toBe(-32601);
    const tool = await client.call("4", "nope", "{}");
    expect(tool.status).toBe(200);
    expect(JSON.parse(tool.message).error.code).toBe(-32602);
  });

  test("and goes on serving", async () => {
    const answer = await client.call("5", "echo", '{"a":1}');
    expect(JSON.parse(answer.message).result.content[0].text).toBe('{"a":1}');
  });
});

describe("a server that", () => {
  test("dies at once fails each call quickly, with its id", async () => {
    const client = await open("dies", ["--lazy"]);
    const started = Date.now();
    const answer = await client.call("9", "echo", "{}");
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(answer.status).toBeGreaterThanOrEqual(500);
    const { id, error } = JSON.parse(answer.message);
    expect(id).toBe(9);
    expect(error.code).toBe(-32603);
    expect(error.message).toMatch(/exit/);
  });

  test("dies on the probe is started once more and serves", async () => {
    const client = await open("dies-on-probe");
    const answer = await client.call("1", "echo", '{"b":2}');
    expect(JSON.parse(answer.message).result.content[0].text).toBe('{"b":2}');
  });

  test("never answers ends in a time-out with the request's id, and others go on", async () => {
    const client = await open("normal", ["--request-timeout", "500ms"]);
    const [late, fine] = await Promise.all([
      client.call("1", "hang", "{}"),
      client.call("2", "echo", "{}"),
    ]);
    expect(late.status).toBe(504);
    expect(JSON.parse(late.message)).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(fine.status).toBe(200);
    const notes = JSON.parse((await client.call("3", "notes", "{}")).message);
    expect(notes.result.content[0].text).toContain("notifications/cancelled");
  });

  test("dies in the middle of a call fails that call and serves the next", async () => {
    const client = await open("normal");
    const died = JSON.parse((await client.call("1", "die", "{}")).message);
    expect(died).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(died.error.message).toMatch(/may have completed/);
    const next = JSON.parse((await client.call("2", "echo", "{}")).message);
    expect(next.result.content[0].text).toBe("{}");
  });
});

test("a command that does not exist is named, with exit code 3", async () => {
  const bridge = startProcess(process.execPath, [
    CLI,
    "serve",
    "--port",
    "0",
    "--",
    "no-such-command-x",
  ]);
  running.push(bridge);
  await bridge.waitFor(/no-such-command-x/);
  expect(bridge.output()).toMatch(/not found|cannot be started|ENOENT/);
});
