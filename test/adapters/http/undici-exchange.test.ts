import { expect, onTestFinished, test } from "vitest";
import { createNodeHandler } from "../../../adapters/http/node-http.js";
import {
  createUndiciExchange,
  type UndiciExchange,
} from "../../../adapters/http/undici-exchange.js";
import { httpContract, perform } from "../../contracts/http-contract.js";
import { freePort, serve, serveTcp } from "./serving.js";

function open(): UndiciExchange {
  const opened = createUndiciExchange();
  onTestFinished(() => opened.close());
  return opened;
}

httpContract("undici and node:http", async (handler) => {
  const { origin } = await serve(createNodeHandler(handler));
  return { exchange: open().exchange, origin };
});

/** Answers each connection's first bytes with the given ones. */
async function answering(bytes: string, then: "end" | "reset" | "wait") {
  let connections = 0;
  const origin = await serveTcp((socket) => {
    connections += 1;
    socket.once("data", () => {
      if (then === "reset" && bytes === "") socket.resetAndDestroy();
      else if (then === "end") socket.end(bytes);
      else
        socket.write(bytes, () => then === "reset" && setImmediate(() => socket.resetAndDestroy()));
    });
  });
  return { exchange: open().exchange, origin, connections: () => connections };
}

test("a server that is not there has refused", async () => {
  const { exchange } = open();
  const answer = await perform({ exchange, origin: `http://127.0.0.1:${await freePort()}` }, "/", {
    body: "{}",
  }).answer;
  expect(answer.steps).toEqual(["failed"]);
  expect(answer.failure?.kind).toBe("refused");
  expect(answer.failure?.message).toContain("ECONNREFUSED");
});

test("a host without an address has refused", async () => {
  const { exchange } = open();
  const answer = await perform({ exchange, origin: "http://nowhere.invalid" }, "/", {}).answer;
  expect(answer.failure?.kind).toBe("refused");
  expect(answer.failure?.message).toMatch(/nowhere\.invalid/);
});

test.each([
  ["a URL that is none", "not a url", {}],
  ["a header with a line break", "http://127.0.0.1:1", { "x-bad": "a\r\nb" }],
  ["a header name that is none", "http://127.0.0.1:1", { "x bad": "a" }],
])("%s is refused, after the call has returned", async (_what, origin, headers) => {
  const { exchange } = open();
  let returned = false;
  const failure = await new Promise<unknown>((resolve) => {
    exchange(
      { method: "POST", url: `${origin}/`, headers, body: "{}" },
      {
        head: () => undefined,
        data: () => undefined,
        end: () => undefined,
        failed: ({ kind }) => resolve([kind, returned]),
      },
    );
    returned = true;
  });
  expect(failure).toEqual(["refused", true]);
});

test("a connection that is reset after the request was written is broken", async () => {
  const served = await answering("", "reset");
  const answer = await perform(served, "/", { body: "{}" }).answer;
  expect(answer.failure?.kind).toBe("broken");
  expect(served.connections()).toBe(1);
});

test("a connection that ends without an answer is broken, and the request is not sent again", async () => {
  const served = await answering("", "end");
  const answer = await perform(served, "/", { method: "GET" }).answer;
  expect(answer.failure?.kind).toBe("broken");
  expect(served.connections()).toBe(1);
});

test.each([
  ["a body cut short", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "end"],
  [
    "chunks without the last one",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "end",
  ],
  [
    "a reset in a stream",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "reset",
  ],
] as const)("%s is broken after what came", async (_what, bytes, then) => {
  const served = await answering(bytes, then);
  const answer = await perform(served, "/", { body: "{}" }).answer;
  expect(answer).toMatchObject({ status: 200, text: "half", failure: { kind: "broken" } });
});

test("an answer that is no HTTP is broken", async () => {
  const served = await answering("SSH-2.0-OpenSSH_9.6\r\n", "wait");
  expect((await perform(served, "/", { body: "{}" }).answer).failure?.kind).toBe("broken");
});

test("a kept connection that the server closed meanwhile does not harm the next call", async () => {
  const { origin, server } = await serve((_request, response) => response.end("ok"));
  const { exchange } = open();
  for (let n = 0; n < 3; n += 1) {
    expect((await perform({ exchange, origin }, "/", { body: "{}" }).answer).text).toBe("ok");
    server.closeIdleConnections();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("a kept connection that is cut under the next request is broken: it may have been seen", async () => {
  let requests = 0;
  const origin = await serveTcp((socket) => {
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      else socket.resetAndDestroy();
    });
  });
  const { exchange } = open();
  await perform({ exchange, origin }, "/", { body: "{}" }).answer;
  const answer = await perform({ exchange, origin }, "/", { body: "{}" }).answer;
  expect(answer.failure?.kind).toBe("broken");
  expect(requests).toBe(2);
});

test("calls do not wait for each other, however many stay open", async () => {
  const { origin } = await serve((_request, response) => {
    response.writeHead(200).flushHeaders();
  });
  const { exchange } = open();
  const statuses = await Promise.all(
    Array.from(
      { length: 64 },
      () =>
        new Promise<number>((resolve) => {
          exchange(
            { method: "GET", url: origin, headers: {}, body: undefined },
            { head: resolve, data: () => undefined, end: () => undefined, failed: () => undefined },
          );
        }),
    ),
  );
  expect(statuses).toEqual(Array.from({ length: 64 }, () => 200));
});

test("repeated headers are joined, and no compression is asked for", async () => {
  const { origin } = await serve((request, response) => {
    response.writeHead(401, [
      ["WWW-Authenticate", "Bearer a"],
      ["WWW-Authenticate", "Basic b"],
    ] as never);
    response.end(request.headers["accept-encoding"]);
  });
  const answer = await perform({ exchange: open().exchange, origin }, "/", { body: "{}" }).answer;
  expect(answer.headers["www-authenticate"]).toBe("Bearer a, Basic b");
  expect(answer.text).toBe("identity");
});

test.each([307, 308])(
  "a %i to the same origin is followed with everything kept",
  async (status) => {
    const { origin } = await serve((request, response) => {
      if (request.url === "/mcp?x=1") {
        response.writeHead(status, { location: "/mcp/?x=1" }).end("moved");
        return;
      }
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const { authorization } = request.headers;
        response.end(JSON.stringify([request.method, request.url, authorization, body]));
      });
    });
    const answer = await perform({ exchange: open().exchange, origin }, "/mcp?x=1", {
      headers: { authorization: "Bearer t" },
      body: "{}",
    }).answer;
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual(["POST", "/mcp/?x=1", "Bearer t", "{}"]);
  },
);

test.each([
  ["another port", 307, (origin: string) => `${origin.replace(/\d+$/, "")}1/mcp`],
  ["another scheme", 308, (origin: string) => origin.replace("http:", "https:")],
  ["nowhere", 307, () => undefined],
  ["a GET, as 301 means to some", 301, () => "/other"],
  ["a GET, as 302 means to some", 302, () => "/other"],
  ["a GET, as 303 means", 303, () => "/other"],
])("a redirect to %s comes back as it is", async (_what, status, locate) => {
  let requests = 0;
  const { origin } = await serve((_request, response) => {
    requests += 1;
    const location = locate(origin);
    response.writeHead(status, location === undefined ? {} : { location }).end("moved");
  });
  const answer = await perform({ exchange: open().exchange, origin }, "/", { body: "{}" }).answer;
  expect(answer).toMatchObject({ status, text: "moved", failure: undefined });
  expect(requests).toBe(1);
});

test("a loop of redirects comes to an end", async () => {
  let requests = 0;
  const { origin } = await serve((_request, response) => {
    requests += 1;
    response.writeHead(307, { location: "/" }).end();
  });
  const answer = await perform({ exchange: open().exchange, origin }, "/", { body: "{}" }).answer;
  expect(answer.status).toBe(307);
  expect(requests).toBe(6);
});

test("closing ends open calls as aborted, at once", async () => {
  const { origin } = await serve((_request, response) => {
    response.writeHead(200).flushHeaders();
  });
  const { exchange, close } = open();
  const call = perform({ exchange, origin }, "/", { body: "{}" });
  await close();
  expect((await call.answer).failure?.kind).toBe("aborted");
  const late = await perform({ exchange, origin }, "/", { body: "{}" }).answer;
  expect(late.failure?.kind).toBe("refused");
});

test("an abort while it is still connecting fails at once and sends nothing", async () => {
  let requests = 0;
  const { origin } = await serve((_request, response) => {
    requests += 1;
    response.end();
  });
  const { exchange } = open();
  const call = perform({ exchange, origin }, "/", { body: "{}" });
  call.abort();
  expect((await call.answer).failure?.kind).toBe("aborted");
  await perform({ exchange, origin }, "/", { body: "{}" }).answer;
  expect(requests).toBe(1);
});
