import { createServer, type RequestListener } from "node:http";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { mountResourceMetadata } from "../../../adapters/sidecar/resource-metadata.js";
import {
  DEFAULT_BRIDGING,
  DEFAULT_LISTEN,
  type UpstreamSettings,
} from "../../../adapters/sidecar/settings.js";
import { freePort, serve } from "../http/serving.js";

const PATH = "/.well-known/oauth-protected-resource";

interface Shared {
  readonly path: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly sameResource?: boolean;
}

/** The application in front of these servers; gives its origin. */
async function open(...servers: readonly Shared[]): Promise<string> {
  const app = express();
  const list = servers.map(({ path, url, headers = {}, sameResource = true }) => {
    const settings: UpstreamSettings = {
      name: path,
      connection: { type: "url", url, headers },
      ...DEFAULT_BRIDGING,
      sameResource,
    };
    return { path, settings };
  });
  const metadata = mountResourceMetadata(app, {
    mounts: { list: () => list },
    listen: DEFAULT_LISTEN,
  });
  onTestFinished(() => metadata.close());
  return (await serve(app)).origin;
}

/** A server that answers like this; gives its origin and the URLs it was asked for. */
async function upstream(answer: RequestListener) {
  const asked: string[] = [];
  const { origin } = await serve((request, response) => {
    asked.push(request.url ?? "");
    answer(request, response);
  });
  return { origin, asked };
}

const document: RequestListener = (_request, response) =>
  void response.writeHead(200, { "content-type": "application/json", "x-own": "1" }).end("{ }");

test("the document is asked of the server with the operator's headers, and comes unchanged", async () => {
  let key: string | string[] | undefined;
  const { origin, asked } = await upstream((request, response) => {
    key = request.headers["x-key"];
    document(request, response);
  });
  const at = await open({ path: "/mcp", url: `${origin}/api/mcp?x=1`, headers: { "x-key": "k" } });
  for (const suffix of ["", "/mcp", "/api/mcp"]) {
    const response = await fetch(`${at}${PATH}${suffix}?ignored`);
    expect(response.headers.has("x-own")).toBe(false);
    expect(await response.text()).toBe("{ }");
  }
  expect(asked).toEqual([PATH, `${PATH}/mcp`, `${PATH}/api/mcp`]);
  expect(key).toBe("k");
});

test("of several servers each is asked for its own, and none for what could be anyone's", async () => {
  const one = await upstream(document);
  const two = await upstream(document);
  const at = await open(
    { path: "/mcp/one", url: `${one.origin}/mcp` },
    { path: "/mcp/two & 2", url: `${two.origin}/mcp` },
    { path: "/mcp/three", url: `${two.origin}/mcp`, sameResource: false },
  );
  const status = async (suffix: string) => (await fetch(`${at}${PATH}${suffix}`)).status;
  expect(await status("/mcp/one")).toBe(200);
  expect(await status("/mcp/two%20&%202")).toBe(200);
  for (const suffix of ["", "/mcp", "/mcp/three"]) expect(await status(suffix)).toBe(404);
  expect(one.asked).toEqual([`${PATH}/mcp/one`]);
  expect(two.asked).toEqual([`${PATH}/mcp/two%20&%202`]);
});

test("other answers of the server are its own as well", async () => {
  const { origin } = await upstream(
    (_request, response) =>
      void response.writeHead(302, { location: "https://other.example/x" }).end(),
  );
  const at = await open({ path: "/mcp", url: `${origin}/mcp` });
  const response = await fetch(at + PATH, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([
    302,
    "https://other.example/x",
  ]);
});

test("a server that is away, breaks off or says too much gives no document", async () => {
  const endless = await upstream((_request, response) => {
    response.writeHead(200);
    response.write("x".repeat(300 * 1024));
  });
  const broken = await upstream((_request, response) => {
    response.writeHead(200, { "content-length": "10" }).write("x");
    setImmediate(() => response.destroy());
  });
  const away = `http://127.0.0.1:${await freePort()}`;
  for (const origin of [endless.origin, broken.origin, away]) {
    const at = await open({ path: "/mcp", url: `${origin}/mcp` });
    const response = await fetch(at + PATH);
    expect([response.status, await response.text()]).toEqual([502, ""]);
  }
});

test("a page may read it where pages may call, and nobody may write it", async () => {
  const { origin, asked } = await upstream(document);
  const at = await open({ path: "/mcp", url: `${origin}/mcp` });
  const page = (method: string, from: string) =>
    fetch(at + PATH, { method, headers: { origin: from } });
  const allowed = await page("GET", "http://localhost:5173");
  expect(allowed.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  const preflight = await page("OPTIONS", "http://localhost:5173");
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toBe("mcp-protocol-version");
  expect((await page("GET", "https://evil.example")).status).toBe(403);
  for (const method of ["POST", "PUT", "DELETE"]) {
    expect((await page(method, "http://localhost:5173")).status).toBe(405);
  }
  expect(asked).toHaveLength(1);
});

test("a client that goes away takes the question with it", async () => {
  let gone: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    gone = resolve;
  });
  let seen: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const server = createServer((request) => {
    request.socket.once("close", gone);
    seen();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const at = await open({ path: "/mcp", url: `http://127.0.0.1:${port}/mcp` });
  const cut = new AbortController();
  const asking = fetch(at + PATH, { signal: cut.signal }).catch(() => "cut");
  await arrived;
  cut.abort();
  expect(await asking).toBe("cut");
  await left;
});
