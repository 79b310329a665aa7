// rules: input-requests
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { type RunningProcess, startServe } from "../support/process.js";
import {
  createRawModernClient,
  envelopeText,
  type RawModernClient,
} from "../support/raw-modern-client.js";

const SERVER = fileURLToPath(new URL("../support/asking-server.mjs", import.meta.url));
const CAPABILITIES = '{"elicitation":{}}';
const running: RunningProcess[] = [];
const clients: RawModernClient[] = [];

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(running.map((process) => process.stop()));
});

async function open(policy: string): Promise<RawModernClient> {
  const bridge = await startServe([process.execPath, SERVER], ["--attribution", policy]);
  running.push(bridge.process);
  const client = createRawModernClient(bridge.url, { capabilities: CAPABILITIES });
  clients.push(client);
  return client;
}

/** Calls a tool and, when asked, answers with what the question says; returns question and text. */
async function run(
  client: RawModernClient,
  tool: string,
  who: string,
): Promise<{ readonly asked: string | undefined; readonly text: string }> {
  const first = JSON.parse((await client.call("1", tool, `{"who":"${who}"}`)).message).result;
  if (first.resultType !== "input_required")
    return { asked: undefined, text: first.content[0].text };
  const [[key, question]] = Object.entries<{ params: { message: string } }>(
    first.inputRequests,
  ) as [[string, { params: { message: string } }]];
  const asked = question.params.message;
  const responses = JSON.stringify({ [key]: { action: "accept", content: { who: asked } } });
  const params = `{"name":"${tool}","arguments":{"who":"${who}"},"inputResponses":${responses},"requestState":${JSON.stringify(first.requestState)},"_meta":{${envelopeText(CAPABILITIES)}}}`;
  const second = await client.post(
    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${params}}`,
    { "mcp-method": "tools/call", "mcp-name": tool },
  );
  return { asked, text: JSON.parse(second.message).result.content[0].text };
}

const ASKING = ["ann", "bob"];
const WORKING = ["cat", "dan", "eve"];

describe.each(["exclusive", "adaptive"])(
  "five calls at once over stdio, of which two ask: %s",
  (policy) => {
    test("each question reaches the call that caused it", async () => {
      const client = await open(policy);
      // The first question of all tells an adaptive bridge what kind of server this is.
      if (policy === "adaptive") {
        await Promise.all([run(client, "ask", "zoe"), run(client, "ask", "yan")]);
        await run(client, "work", "xia");
      }
      const [asking, working] = await Promise.all([
        Promise.all(ASKING.map((who) => run(client, "ask", who))),
        Promise.all(WORKING.map((who) => run(client, "work", who))),
      ]);
      expect(asking).toEqual(ASKING.map((who) => ({ asked: who, text: `${who} heard ${who}` })));
      expect(working).toEqual(WORKING.map((who) => ({ asked: undefined, text: `${who} worked` })));
    }, 60_000);
  },
);

test("under adaptive, calls that ask nothing stay parallel", async () => {
  const client = await open("adaptive");
  await Promise.all([run(client, "ask", "zoe"), run(client, "ask", "yan")]);
  await run(client, "work", "xia");
  await Promise.all(WORKING.map((who) => run(client, "work", who)));
  expect((await run(client, "most-at-work", "-")).text).toBe("3");
}, 60_000);
