// rules: capabilities
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningProcess, startServe } from "../support/process.js";
import { type RawLegacyServer, startRawLegacyServer } from "../support/raw-legacy-server.js";
import { createRawModernClient, type RawModernClient } from "../support/raw-modern-client.js";

const TOTAL = 10_000;
const AT_ONCE = 100;

let server: RawLegacyServer;
let bridge: RunningProcess;
let url = "";
const clients: RawModernClient[] = [];

beforeAll(async () => {
  server = await startRawLegacyServer(async ({ body, session }) => {
    // A random delay makes answers overtake each other.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    const said = /"say":"([^"]+)"/.exec(body)?.[1];
    return `{"content":[{"type":"text","text":"${said}"}],"structuredContent":{"session":"${session}"}}`;
  });
  const started = await startServe(
    [server.url],
    ["--token", "alice:alice-token", "--token", "bob:bob-token"],
  );
  bridge = started.process;
  url = started.url;
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await bridge?.stop();
  await server?.close();
});

test(`${TOTAL} calls of two principals and two capability sets, all with id 2, never mix`, async () => {
  const callers = ["alice", "bob"].flatMap((principal) =>
    ["{}", '{"elicitation":{}}'].map((capabilities) => ({
      name: `${principal} ${capabilities.length}`,
      headers: { authorization: `Bearer ${principal}-token` },
      client: createRawModernClient(url, { connections: 25, capabilities }),
    })),
  );
  clients.push(...callers.map(({ client }) => client));
  const sessionsOf = new Map<string, Set<string>>();
  let wrong = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < TOTAL) {
      const number = next++;
      const caller = callers[number % callers.length];
      if (caller === undefined) throw new Error("no caller");
      const said = `${caller.name} ${number}`;
      const answer = await caller.client.call("2", "echo", `{"say":"${said}"}`, caller.headers);
      const { id, result } = JSON.parse(answer.message);
      if (answer.status !== 200 || id !== 2 || result.content[0].text !== said) wrong++;
      const seen = sessionsOf.get(caller.name) ?? new Set();
      sessionsOf.set(caller.name, seen.add(result.structuredContent.session));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(wrong).toBe(0);
  const all = [...sessionsOf.values()].map((sessions) => [...sessions]);
  expect(all.map((sessions) => sessions.length)).toEqual([1, 1, 1, 1]);
  expect(new Set(all.flat()).size).toBe(4);
}, 120_000);

test("without a token nobody gets in", async () => {
  const client = createRawModernClient(url);
  clients.push(client);
  const answer = await client.call("1", "echo", "{}");
  expect(answer.status).toBe(401);
  expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
});
