// rules: envelope, identity, result-type
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningProcess, startServe } from "../support/process.js";
import { type RawLegacyServer, startRawLegacyServer } from "../support/raw-legacy-server.js";
import {
  createRawModernClient,
  envelopeText,
  type RawModernClient,
} from "../support/raw-modern-client.js";

/** Everything a parse and a re-serialisation would change. */
const ODD =
  '{"big":1915883588174806058,"one":1.0,"ten":1.10,"huge":1e400,"minus":-0,"twice":1,"twice":2,"lone":"\\ud83d","nul":"\\u0000","slash":"\\/","sep":"\u2028","emoji":"\u{1F30D}","__proto__":{"a":1},"zzz":[ 1 , 2.50 ]}';
const IMAGE = "A".repeat(10 * 1024 * 1024);

let result = "";
let server: RawLegacyServer;
let bridge: RunningProcess;
let client: RawModernClient;

describe.each([
  ["JSON", false],
  ["an event stream", true],
])("a server that answers with %s", (_name, sse) => {
  beforeAll(async () => {
    server = await startRawLegacyServer(() => result, { sse });
    const started = await startServe([server.url]);
    bridge = started.process;
    client = createRawModernClient(started.url);
  });
  afterAll(async () => {
    await client?.close();
    await bridge?.stop();
    await server?.close();
  });

  test("gets a request's unknown members, numbers and _meta entries as the same characters", async () => {
    result = '{"content":[]}';
    const params = `{"name":"echo","arguments":${ODD},"zzz":1.0,"_meta":{${envelopeText()},"com.acme/x":1.0,"traceparent":"00-1"}}`;
    await client.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`, {
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    });
    expect(server.received.at(-1)).toContain(
      `"params":{"name":"echo","arguments":${ODD},"zzz":1.0,"_meta":{"com.acme/x":1.0,"traceparent":"00-1"}}`,
    );
  });

  test("is heard as the same characters", async () => {
    result = `{"content":[{"type":"text","text":"x","annotations":{"future":1.0},"_meta":{"a":1.0}}],"structuredContent":${ODD},"zzz":1.0}`;
    const answer = await client.call('"id-1"', "echo", "{}");
    expect(answer.status).toBe(200);
    expect(answer.message).toContain(result.slice(1, -1));
    expect(answer.message).toContain('"id":"id-1"');
    expect(answer.message).toContain('"resultType":"complete"');
    expect(answer.message).toContain(
      '"io.modelcontextprotocol/serverInfo":{"name":"raw","version":"1"}',
    );
  });

  test("can send an image of 10 MB", async () => {
    result = `{"content":[{"type":"image","mimeType":"image/png","data":"${IMAGE}"}]}`;
    const answer = await client.call("2", "echo", "{}");
    expect(answer.status).toBe(200);
    expect(answer.message.length).toBeGreaterThan(IMAGE.length);
    expect(answer.message.includes(IMAGE)).toBe(true);
  });

  test.each(["0", '""', '"0"', "1", "1.5", "9007199254740992", `"${"x".repeat(200)}"`])(
    "answers id %s with the same type and value",
    async (id) => {
      result = '{"content":[]}';
      const answer = await client.call(id, "echo", "{}");
      expect(answer.message).toContain(`"id":${id},`);
    },
  );
});
