import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { RunningProcess } from "../support/process.js";
import { createRawModernClient } from "../support/raw-modern-client.js";
import type { Answers } from "../support/sdk-peers.js";
import { bridgedBy } from "./bridged.js";
import {
  ACCEPTED,
  events,
  type HandmadeHttp,
  handmadeHttp,
  json,
  type RawResponse,
  type SeenRequest,
} from "./handmade/http-server.js";
import { initializeResult, ordinaryAnswer, refusal, reply } from "./handmade/legacy-answers.js";
import { callTool, firstText, type ModernPeer, modernPeer } from "./peer.js";
import { typescript } from "./revisions/start.js";

const SERVER = fileURLToPath(new URL("handmade/stdio-server.ts", import.meta.url));
const running: RunningProcess[] = [];
const peers: ModernPeer[] = [];
const servers: HandmadeHttp[] = [];

async function stopBridges(): Promise<void> {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await Promise.all(running.splice(0).map((process) => process.stop()));
}

afterEach(async () => {
  await stopBridges();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function through(upstream: readonly string[], answers: Answers = {}): Promise<ModernPeer> {
  const peer = await modernPeer(await bridgedBy("serve", upstream, running), answers);
  peers.push(peer);
  return peer;
}

const overStdio = (habit: string, answers?: Answers): Promise<ModernPeer> =>
  through(typescript(SERVER, habit), answers);

async function served(answer: (request: SeenRequest) => RawResponse): Promise<HandmadeHttp> {
  const server = await handmadeHttp(answer);
  servers.push(server);
  return server;
}

const works = async (peer: ModernPeer): Promise<void> => {
  expect(firstText(await callTool(peer, "echo", { a: 1 }))).toBe('{"a":1}');
};

describe("a stdio server", () => {
  test.each([
    "refuses-32600",
    "refuses-32601",
    "refuses-32602",
    "refuses-32002",
    "silent",
    "dies",
    "dies-in-a-line",
    "refuses-and-dies",
    "late",
    "counter-offers",
    "lists-versions",
  ])("that meets the probe or the version with the habit %s is used", async (habit) => {
    const peer = await overStdio(habit);
    await works(peer);
    const { tools } = (await peer.request("tools/list")) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(["echo"]);
  });

  test("that offers a revision nobody knows is refused in words", async () => {
    const place = await bridgedBy("serve", typescript(SERVER, "offers-the-unknown"), running);
    const client = createRawModernClient("url" in place ? place.url : "");
    try {
      const { message } = await client.call("7", "echo", "{}");
      expect(JSON.parse(message)).toMatchObject({ id: 7, error: { code: -32603 } });
      expect(message).toContain("1999-12-31");
    } finally {
      await client.close();
    }
  });

  test.each([
    ["answers the probe", "refuses-32601", 1],
    ["never answers the probe", "silent", 1],
    ["dies on the probe", "dies", 2],
  ])("that %s is started no more often than needed", async (_name, habit, times) => {
    const folder = await mkdtemp(join(tmpdir(), "erabridge-peers-"));
    try {
      const log = join(folder, "starts");
      const upstream = typescript(SERVER, habit, log);
      const peer = await modernPeer(await bridgedBy("serve", upstream, running));
      peers.push(peer);
      await works(peer);
      await works(peer);
      expect((await readFile(log, "utf8")).split("\n").filter(Boolean)).toHaveLength(times);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("of 2025-03-26 may answer two calls in one array", async () => {
    const peer = await overStdio("arrays");
    const [one, two] = await Promise.all([
      callTool(peer, "echo", { n: 1 }),
      callTool(peer, "echo", { n: 2 }),
    ]);
    expect([firstText(one), firstText(two)]).toEqual(['{"n":1}', '{"n":2}']);
  });

  test("of 2025-03-26 may ask inside an array", async () => {
    const answer = { role: "assistant", model: "m", content: { type: "text", text: "so" } };
    const peer = await overStdio("arrays", { sample: () => answer });
    expect(JSON.parse(firstText(await callTool(peer, "ask")))).toEqual(answer);
  });
});

/** A server of one revision that wants a session id and its own version in the header. */
function strict(revision: string, send: (answer: object) => RawResponse = (a) => json(a)) {
  const sessions = new Set<string>();
  return ({ method, headers, message }: SeenRequest): RawResponse => {
    if (method !== "POST") return { status: 405 };
    if (message?.method === "initialize") {
      const session = `s-${sessions.size + 1}`;
      sessions.add(session);
      const opened = json(reply(message.id, initializeResult(revision)));
      return { ...opened, headers: { "mcp-session-id": session } };
    }
    if (!sessions.has(String(headers["mcp-session-id"]))) {
      return json(refusal(null, -32000, "no session"), 400);
    }
    if (revision > "2025-03-26" && headers["mcp-protocol-version"] !== revision) {
      return json(refusal(null, -32000, "wrong version"), 400);
    }
    const answer = message === undefined ? undefined : ordinaryAnswer(message);
    return answer === undefined ? ACCEPTED : send(answer);
  };
}

describe("a Streamable HTTP server", () => {
  test("of 2025-03-26 may answer with arrays, as JSON and as an event stream", async () => {
    for (const send of [(a: object) => json([a]), (a: object) => events([a])]) {
      const server = await served(strict("2025-03-26", send));
      await works(await through([server.url]));
    }
  });

  test("never sees an array, a foreign version or a header of the modern era", async () => {
    const server = await served(strict("2025-06-18"));
    const peer = await through([server.url]);
    await works(peer);
    await stopBridges();
    const after = server.seen.filter(
      ({ headers, message }) =>
        headers["mcp-session-id"] !== undefined && message?.method !== "initialize",
    );
    expect(after.map(({ method }) => method)).toContain("DELETE");
    for (const { headers, message } of after) {
      expect(Array.isArray(message)).toBe(false);
      expect(headers["mcp-protocol-version"]).toBe("2025-06-18");
      expect(Object.keys(headers).filter((name) => /^mcp-(method|name|param)/.test(name))).toEqual(
        [],
      );
    }
  });

  test("that was asked for nothing else gets no id twice and none below 1", async () => {
    const server = await served(strict("2025-06-18"));
    const peer = await through([server.url]);
    await works(peer);
    await works(peer);
    const ids = server.seen.flatMap(({ headers, message }) =>
      message?.id === undefined || message.method === "server/discover"
        ? []
        : [{ session: headers["mcp-session-id"], id: Number(message.id) }],
    );
    const calls = ids.filter(({ session }) => session !== undefined);
    expect(new Set(calls.map(({ session, id }) => `${session} ${id}`)).size).toBe(calls.length);
    expect(Math.min(...ids.map(({ id }) => id))).toBeGreaterThanOrEqual(1);
  });

  test.each([
    ["200", 200, { supported: ["2025-06-18", "2024-11-05"] }],
    ["400", 400, { supported: ["2025-06-18"] }],
    ["200 with supportedVersions", 200, { supportedVersions: ["2025-06-18"] }],
  ])(
    "that refuses the version with %s and lists its own is asked again",
    async (_n, status, data) => {
      const ordinary = strict("2025-06-18");
      const server = await served((request) => {
        const { message } = request;
        if (
          message?.method !== "initialize" ||
          message.params?.["protocolVersion"] === "2025-06-18"
        ) {
          return ordinary(request);
        }
        return json(refusal(message.id, -32602, "Unsupported protocol version", data), status);
      });
      await works(await through([server.url]));
      const asked = server.seen.flatMap(({ message }) =>
        message?.method === "initialize" ? [message.params?.["protocolVersion"]] : [],
      );
      expect(new Set(asked)).toEqual(new Set(["2025-11-25", "2025-06-18"]));
      expect(asked.filter((version) => version === "2025-06-18").length * 2).toBe(asked.length);
    },
  );

  test("that knows no newer version in the header of initialize is asked without one", async () => {
    const ordinary = strict("2025-06-18");
    const server = await served((request) => {
      const header = request.headers["mcp-protocol-version"];
      return header === undefined || header === "2025-06-18"
        ? ordinary(request)
        : { status: 400, type: "text/plain", body: "Bad Request: Unsupported protocol version" };
    });
    await works(await through([server.url]));
  });

  const probes: readonly (readonly [string, RawResponse])[] = [
    ["200 and -32601", json(refusal(1, -32601, "Method not found"))],
    ["200 and -32600", json(refusal(1, -32600, "Invalid request"))],
    ["200 and -32602", json(refusal(1, -32602, "Invalid params"))],
    ["400 and -32000 for no id", json(refusal(null, -32000, "Server not initialized"), 400)],
    ["400 and nothing", { status: 400 }],
    ["400 and words", { status: 400, type: "text/plain", body: "Bad Request" }],
    ["404 and a page", { status: 404, type: "text/html", body: "<h1>Not Found</h1>" }],
    ["406", { status: 406 }],
    ["200 and something else", json(reply(1, { ok: true }))],
  ];
  test.each(probes)("that meets the probe with %s is legacy", async (_name, response) => {
    const ordinary = strict("2025-06-18");
    const server = await served((request) => {
      const { message } = request;
      if (message?.method !== "server/discover") return ordinary(request);
      const body = response.body?.replace('"id":1', `"id":${JSON.stringify(message.id)}`);
      return body === undefined ? response : { ...response, body };
    });
    await works(await through([server.url]));
  });
});
