// rules: subscriptions, log-level, tasks, elicitation
import { afterAll, describe, expect, test } from "vitest";
import {
  EVERYTHING,
  type RunningProcess,
  startEverythingHttp,
  startServe,
} from "../support/process.js";
import {
  createRawModernClient,
  envelopeText,
  type RawAnswer,
} from "../support/raw-modern-client.js";
import { type Answers, connectModern } from "../support/sdk-peers.js";

const RESOURCE = "demo://resource/dynamic/text/1";
const running: RunningProcess[] = [];

afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
});

const overStdio = async (): Promise<readonly string[]> => [process.execPath, EVERYTHING, "stdio"];
const overHttp = async (): Promise<readonly string[]> => {
  const everything = await startEverythingHttp();
  running.push(everything.process);
  return [everything.url];
};

/** What a client was told, with a way to wait for more. */
function watched(): { readonly seen: unknown[]; until(count: number): Promise<void> } {
  const seen: unknown[] = [];
  return {
    seen,
    until: (count) =>
      expect.poll(() => seen.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(count),
  };
}

describe.each([
  ["stdio", overStdio],
  ["Streamable HTTP", overHttp],
] as const)("server-everything over %s", (_name, upstream) => {
  const connect = async (answers: Answers): ReturnType<typeof connectModern> => {
    const bridge = await startServe(await upstream());
    running.push(bridge.process);
    return connectModern({ url: bridge.url }, answers);
  };

  test("updates of a subscribed resource arrive on the listen stream, and only while it is open", async () => {
    const client = await connect({});
    const updates = watched();
    const logs: unknown[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updates.seen.push(params.uri);
    });
    client.setNotificationHandler("notifications/message", ({ params }) => {
      logs.push(params);
    });
    const subscription = await client.listen({
      resourceSubscriptions: [RESOURCE],
      toolsListChanged: true,
    });
    expect(subscription.honoredFilter).toMatchObject({ resourceSubscriptions: [RESOURCE] });
    await client.callTool({ name: "toggle-subscriber-updates", arguments: {} });
    await updates.until(1);
    expect(new Set(updates.seen)).toEqual(new Set([RESOURCE]));
    await subscription.close();
    expect(await subscription.closed).toBe("local");
    // The server logs each subscription; nobody asked for messages, so none may arrive.
    await client.callTool({ name: "toggle-simulated-logging", arguments: {} });
    await client.callTool({ name: "echo", arguments: { message: "x" } });
    expect(logs).toEqual([]);
    await client.close();
  });

  test("log messages reach the request that asked for them, and no other", async () => {
    const bridge = await startServe(await upstream());
    running.push(bridge.process);
    const client = createRawModernClient(bridge.url);
    const longCall = (id: number, level: string): Promise<RawAnswer> =>
      client.post(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"trigger-long-running-operation","arguments":{"duration":6,"steps":1},"_meta":{${envelopeText()}${level}}}}`,
        { "mcp-method": "tools/call", "mcp-name": "trigger-long-running-operation" },
      );
    await client.call("1", "toggle-simulated-logging", "{}");
    // The server logs every five seconds, so one message at least falls into each of these calls.
    const [wanting, silent] = await Promise.all([
      longCall(2, ',"io.modelcontextprotocol/logLevel":"debug"'),
      longCall(3, ""),
    ]);
    expect(wanting.text).toContain('"method":"notifications/message"');
    expect(silent.text).not.toContain("notifications/message");
    expect(JSON.parse(wanting.message).id).toBe(2);
    expect(JSON.parse(silent.message).id).toBe(3);
    await client.close();
  }, 30_000);

  test("a tool that must run as a task works for a client that knows no tasks, questions included", async () => {
    const asked: unknown[] = [];
    const client = await connect({
      elicit: (params) => {
        asked.push(params["message"]);
        return { action: "accept", content: { interpretation: "technical" } };
      },
    });
    const result = await client.callTool({
      name: "simulate-research-query",
      arguments: { topic: "bridges", ambiguous: true },
    });
    expect(asked).toHaveLength(1);
    expect(result.isError).not.toBe(true);
    expect(JSON.stringify(result.content)).toContain("bridges");
    await client.close();
  }, 30_000);

  test("a URL elicitation is asked by request and by error -32042 alike", async () => {
    const urls: unknown[] = [];
    const client = await connect({
      elicit: (params) => {
        urls.push(params["url"]);
        return { action: "accept" };
      },
      elicitModes: { form: {}, url: {} },
    });
    const url = "https://example.com/consent";
    const byRequest = await client.callTool({
      name: "trigger-url-elicitation",
      arguments: { url },
    });
    expect(byRequest.isError).not.toBe(true);
    expect(urls).toEqual([url]);
    const byError = await client.callTool({
      name: "trigger-url-elicitation",
      arguments: { url, errorPath: true },
    });
    expect(byError.isError).not.toBe(true);
    expect(urls.length).toBeGreaterThanOrEqual(3);
    await client.close();
  }, 30_000);
});
