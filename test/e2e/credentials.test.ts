import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { modernRequest, type RunningCli, runCli, STDIO_SERVER } from "../support/cli.js";
import { type GuardedServer, startGuardedServer } from "../support/guarded-server.js";

const ERAS = ["legacy", "modern"] as const;
const running: RunningCli[] = [];
const servers: GuardedServer[] = [];
afterEach(async () => {
  for (const cli of running.splice(0)) cli.child.kill("SIGKILL");
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function guarded(era: "legacy" | "modern", ...users: string[]): Promise<GuardedServer> {
  const server = await startGuardedServer(era);
  for (const user of users) server.users.add(user);
  servers.push(server);
  return server;
}

async function serve(...args: readonly string[]) {
  const cli = runCli(["serve", "--port", "0", ...args]);
  running.push(cli);
  const [, url = ""] = await cli.see("out", /^erabridge serving (.*)\n/);
  return { cli, url };
}

const JSON_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly session: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly message: any;
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { ...JSON_HEADERS, ...headers },
  });
  const text = await response.text();
  const last = text.startsWith("{") ? text : [...text.matchAll(/^data: (.+)$/gm)].at(-1)?.[1];
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate"),
    session: response.headers.get("mcp-session-id"),
    message: last === undefined ? undefined : JSON.parse(last),
  };
}

const bearer = (user: string | undefined): Record<string, string> =>
  user === undefined ? {} : { authorization: `Bearer ${user}` };

function asModern(
  url: string,
  user: string | undefined,
  method: string,
  params: { readonly name?: string; readonly [key: string]: unknown } = {},
): Promise<Answer> {
  const named = params.name === undefined ? {} : { "mcp-name": params.name };
  return post(url, modernRequest(7, method, params), {
    ...bearer(user),
    ...named,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
  });
}

function asLegacy(
  url: string,
  user: string | undefined,
  message: object,
  session?: string | null,
): Promise<Answer> {
  const headers = session ? { "mcp-session-id": session } : {};
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return post(url, body, { ...bearer(user), ...headers });
}

const initialize = {
  id: "init",
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "old", version: "1" },
  },
};
const call = (name: string) => ({ id: 8, method: "tools/call", params: { name } });

async function openLegacy(url: string, user: string): Promise<string> {
  const opened = await asLegacy(url, user, initialize);
  expect(opened).toMatchObject({ status: 200, message: { id: "init" } });
  await asLegacy(url, user, { method: "notifications/initialized" }, opened.session);
  return opened.session ?? "";
}

const textOf = ({ message }: Answer): string => message?.result?.content?.[0]?.text;
/** Who came, with which method of HTTP: probes and what belongs to no client are among them. */
const methodsOf = (server: GuardedServer, user: string): Set<string> =>
  new Set(
    server.seen
      .filter((seen) => seen.authorization === `Bearer ${user}`)
      .map((seen) => seen.method),
  );

describe.each(ERAS)("by default, with a %s server", (era) => {
  it("credentials of clients end at the bridge, those of the operator go with every request", async () => {
    const server = await guarded(era, "operator");
    const { url, cli } = await serve(
      ...["--header", "Authorization: Bearer operator", "--header", "Mcp-Method: spoofed"],
      ...["--header", "X-Key: k", "--header", "Content-Length: 3", server.url],
    );
    expect((await asModern(url, "client", "tools/call", { name: "t" })).status).toBe(200);
    const session = await openLegacy(url, "client");
    const called = await asLegacy(url, "client", call("t"), session);
    expect(textOf(called)).toMatch(/^operator t/);
    await fetch(url, {
      method: "DELETE",
      headers: { ...bearer("client"), "mcp-session-id": session },
    });
    const socket = new WebSocket(url.replace("http", "ws"), ["mcp"], { headers: bearer("client") });
    await once(socket, "open");
    socket.send(modernRequest(5, "tools/list"));
    await once(socket, "message");
    socket.close();
    cli.child.kill("SIGTERM");
    await cli.exit;
    expect(methodsOf(server, "client")).toEqual(new Set());
    expect(server.seen.every(({ headers }) => headers["x-key"] === "k")).toBe(true);
    expect(new Set(server.seen.map(({ authorization }) => authorization))).toEqual(
      new Set(["Bearer operator"]),
    );
    const methods = era === "legacy" ? ["POST", "GET", "DELETE"] : ["POST"];
    expect(methodsOf(server, "operator")).toEqual(new Set(methods));
    for (const { headers, rpc } of server.seen) {
      expect([undefined, rpc]).toContain(headers["mcp-method"]);
    }
  });

  it("a server's challenge is the operator's business, and no verdict about its era", async () => {
    const server = await guarded(era);
    const { url, cli } = await serve("--header", "Authorization: Bearer operator", server.url);
    const refused = await asModern(url, "client", "tools/call", { name: "t" });
    const legacy = await asLegacy(url, "client", initialize);
    for (const answer of [refused, legacy]) {
      expect(answer.challenge).toBeNull();
      expect(answer.message.error).toMatchObject({
        code: -32603,
        data: { reason: "upstream-unauthorized" },
      });
      expect(JSON.stringify(answer.message)).not.toMatch(/realm|invalid_token|scope/);
    }
    expect([refused.status, refused.message.id]).toEqual([503, 7]);
    expect([legacy.status, legacy.message.id]).toEqual([200, "init"]);
    expect(cli.err()).not.toContain("era-verdict");
    server.users.add("operator");
    const good = await asModern(url, "client", "tools/call", { name: "t" });
    expect(textOf(good)).toMatch(/^operator t/);
    expect(cli.err()).toMatch(new RegExp(`era-verdict.*era=${era}`));
    const denied = await asModern(url, "client", "tools/call", { name: "admin" });
    expect([denied.status, denied.challenge]).toEqual([503, null]);
  });
});

describe.each(ERAS)("as the same resource as a %s server", (era) => {
  const open = async (...users: string[]) => {
    const server = await guarded(era, ...users);
    return { server, ...(await serve("--same-resource", server.url)) };
  };

  it("a challenge reaches the client as it came, and a token then finds the right era", async () => {
    const { server, url, cli } = await open();
    await cli.see("out", /serving/);
    await expect.poll(async () => (await fetch(`${new URL(url).origin}/readyz`)).status).toBe(200);
    for (const user of [undefined, "alice"]) {
      const refused = await asModern(url, user, "tools/call", { name: "t" });
      expect(refused).toMatchObject({ status: 401, message: { id: 7, error: { code: -32603 } } });
      expect(refused.challenge).toBe(server.challenges.join(", "));
      const legacy = await asLegacy(url, user, initialize);
      expect(legacy).toMatchObject({ status: 401, message: { id: "init" } });
      expect(legacy.challenge).toBe(server.challenges.join(", "));
      expect(legacy.session).toBeNull();
      expect(JSON.stringify([refused.message, legacy.message])).not.toContain("realm");
    }
    expect(cli.err()).not.toContain("era-verdict");
    server.users.add("alice");
    expect(textOf(await asModern(url, "alice", "tools/call", { name: "t" }))).toMatch(/^alice t/);
    expect(cli.err()).toMatch(new RegExp(`era-verdict.*era=${era}`));
    const anonymous = await asModern(url, undefined, "tools/list");
    expect([anonymous.status, anonymous.challenge]).toEqual([401, server.challenges.join(", ")]);
  });

  it("each user's own token goes with each of its requests, and nothing is shared", async () => {
    const { server, url, cli } = await open("alice", "bob");
    for (const user of ["alice", "bob"]) {
      const listed = await asModern(url, user, "tools/list");
      expect(listed.message.result.tools[0].name).toBe(`of-${user}`);
      expect(textOf(await asModern(url, user, "tools/call", { name: "t" }))).toBe(
        `${user} t ${era === "legacy" ? 1 : 0}`,
      );
    }
    const session = await openLegacy(url, "alice");
    expect(textOf(await asLegacy(url, "alice", call("t"), session))).toMatch(/^alice t/);
    expect((await asLegacy(url, "bob", call("t"), session)).status).toBe(404);
    expect((await asLegacy(url, undefined, call("t"), session)).status).toBe(404);
    const stranger = { ...bearer("bob"), "mcp-session-id": session };
    expect((await fetch(url, { method: "DELETE", headers: stranger })).status).toBe(404);
    cli.child.kill("SIGTERM");
    await cli.exit;
    const methods = era === "legacy" ? ["POST", "GET", "DELETE"] : ["POST"];
    expect(methodsOf(server, "alice")).toEqual(new Set(methods));
    expect(methodsOf(server, "bob")).toEqual(new Set(methods));
    const others = server.seen.filter(
      ({ authorization }) => !/^Bearer (alice|bob)$/.test(authorization ?? ""),
    );
    // The bridge's own look at start has no credentials.
    expect(others.map(({ rpc }) => rpc)).toEqual(["server/discover"]);
  });

  it("a token that may not do everything is told what it lacks, and goes on", async () => {
    const { server, url } = await open("alice");
    const denied = await asModern(url, "alice", "tools/call", { name: "admin" });
    expect(denied).toMatchObject({ status: 403, challenge: server.stepUp, message: { id: 7 } });
    const session = await openLegacy(url, "alice");
    const legacy = await asLegacy(url, "alice", call("admin"), session);
    expect(legacy).toMatchObject({ status: 403, challenge: server.stepUp, message: { id: 8 } });
    expect(textOf(await asLegacy(url, "alice", call("t"), session))).toMatch(/^alice t/);
  });

  it("a token that expires is refused as by the server, for clients of either era", async () => {
    const { server, url } = await open("alice");
    const session = await openLegacy(url, "alice");
    await asModern(url, "alice", "tools/list");
    server.users.delete("alice");
    for (let time = 0; time < 2; time++) {
      const modern = await asModern(url, "alice", "tools/call", { name: "t" });
      const legacy = await asLegacy(url, "alice", call("t"), session);
      for (const answer of [modern, legacy]) {
        expect([answer.status, answer.challenge]).toEqual([401, server.challenges.join(", ")]);
      }
    }
    server.users.add("alice-2");
    expect((await asLegacy(url, "alice-2", call("t"), session)).status).toBe(404);
    const renewed = await openLegacy(url, "alice-2");
    expect(textOf(await asLegacy(url, "alice-2", call("t"), renewed))).toMatch(/^alice-2 t/);
  });

  it("a subscription is one user's, and is refused with the server's challenge", async () => {
    const { server, url } = await open("alice", "bob");
    const listen = (user: string | undefined) =>
      fetch(url, {
        method: "POST",
        body: modernRequest(1, "subscriptions/listen", {
          notifications: { toolsListChanged: true },
        }),
        headers: {
          ...JSON_HEADERS,
          ...bearer(user),
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "subscriptions/listen",
        },
      });
    const streams = await Promise.all(["alice", "bob"].map(listen));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await listen(undefined);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(server.challenges.join(", "));
    const watching = server.seen.filter(({ method, rpc }) =>
      era === "legacy" ? method === "GET" : rpc === "subscriptions/listen",
    );
    expect(new Set(watching.map(({ authorization }) => authorization))).toEqual(
      new Set(
        era === "legacy"
          ? ["Bearer alice", "Bearer bob"]
          : ["Bearer alice", "Bearer bob", undefined],
      ),
    );
    for (const { body } of streams) await body?.cancel();
  });

  it("a client on a WebSocket brings its token with it", async () => {
    const { server, url } = await open("alice", "bob");
    const ask = async (
      user: string | undefined,
      text: string,
    ): Promise<Record<string, unknown>> => {
      const socket = new WebSocket(url.replace("http", "ws"), ["mcp"], { headers: bearer(user) });
      await once(socket, "open");
      socket.send(text);
      const [data] = await once(socket, "message");
      socket.close();
      return JSON.parse(String(data));
    };
    const list = modernRequest(5, "tools/list");
    expect(await ask("alice", list)).toMatchObject({ result: { tools: [{ name: "of-alice" }] } });
    expect(await ask("bob", list)).toMatchObject({ result: { tools: [{ name: "of-bob" }] } });
    const old = await ask("alice", JSON.stringify({ jsonrpc: "2.0", ...initialize }));
    expect(old).toMatchObject({ id: "init", result: { protocolVersion: "2025-11-25" } });
    for (const text of [list, JSON.stringify({ jsonrpc: "2.0", ...initialize })]) {
      const refused = await ask(undefined, text);
      expect(refused).toMatchObject({
        error: { code: -32603, data: { reason: "upstream-unauthorized" } },
      });
      expect(JSON.stringify(refused)).toContain("refuses the credentials");
      expect(JSON.stringify(refused)).not.toContain("realm");
    }
    expect(server.seen.some(({ rpc }) => rpc === "tools/list")).toBe(true);
  });

  it("hands on the server's own description of whom it trusts, and nothing beside it", async () => {
    const { server, url } = await open();
    const { origin } = new URL(url);
    for (const suffix of ["", "/mcp"]) {
      const path = `/.well-known/oauth-protected-resource${suffix}`;
      const response = await fetch(origin + path, { headers: bearer("alice") });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.text()).toBe(server.metadata);
      expect(server.seen.at(-1)).toMatchObject({ method: "GET", path, authorization: undefined });
    }
    const count = server.seen.length;
    for (const path of ["-x", "/other", "/mcp/", "/%2e%2e/x", "/..%2fx"]) {
      const url = `${origin}/.well-known/oauth-protected-resource${path}`;
      expect((await fetch(url)).status).toBe(404);
    }
    const posted = await fetch(`${origin}/.well-known/oauth-protected-resource`, {
      method: "POST",
    });
    expect(posted.status).toBe(405);
    expect(server.seen).toHaveLength(count);
  });
});

it("a parked call is only for the token that made it", async () => {
  const server = await guarded("legacy", "alice", "bob");
  const { url } = await serve("--same-resource", server.url);
  const ask = (user: string, more: object = {}): Promise<Answer> => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const params = { name: "ask", ...more, _meta };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
    return post(url, body, {
      ...bearer(user),
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "ask",
    });
  };
  const { message } = await ask("alice");
  expect(message.result.resultType).toBe("input_required");
  const [key = ""] = Object.keys(message.result.inputRequests);
  const retry = {
    requestState: message.result.requestState,
    inputResponses: { [key]: { action: "accept", content: {} } },
  };
  expect((await ask("bob", retry)).message.error).toMatchObject({ code: -32602 });
  expect(textOf(await ask("alice", retry))).toBe("answered");
});

it("by default there is no description of anybody's resource", async () => {
  const server = await guarded("legacy");
  const { url } = await serve(server.url);
  const path = "/.well-known/oauth-protected-resource/mcp";
  expect((await fetch(new URL(path, url))).status).toBe(404);
  expect(server.seen.some(({ method }) => method === "GET")).toBe(false);
});

it.each([
  ["a command", [...["--", ...STDIO_SERVER]], /must be at an http\(s\) URL/],
  ["a WebSocket", ["ws://127.0.0.1:1/mcp"], /must be at an http\(s\) URL/],
  [
    "the operator's credentials",
    ["--header", "authorization: Bearer x", "http://127.0.0.1:1/mcp"],
    /credentials of its clients/,
  ],
])("the same resource as %s is a usage error", async (_name, args, message) => {
  const cli = runCli(["serve", "--same-resource", ...args]);
  running.push(cli);
  expect(await cli.exit).toBe(2);
  expect(cli.err()).toMatch(message);
});
