import { expect, test } from "vitest";
import { createHttpLoop } from "../../../adapters/memory/http-loop.js";
import type { HttpRequest } from "../../../src/index.js";
import { httpContract, perform } from "../../contracts/http-contract.js";

const origin = "http://server.example";

httpContract("memory", async (handler) => ({ exchange: createHttpLoop(handler), origin }));

test("a body over the limit is withheld and named", async () => {
  let seen: HttpRequest | undefined;
  const exchange = createHttpLoop(
    (request, reply) => {
      seen = request;
      reply.send(413, {}, "");
    },
    { maxBodyBytes: 4 },
  );
  await perform({ exchange, origin }, "/", { body: "üü" }).answer;
  expect(seen?.body).toBe("üü");
  await perform({ exchange, origin }, "/", { body: "üüa" }).answer;
  expect(seen).toMatchObject({ body: undefined, bodyProblem: "oversized" });
});

test("header names become lower case and the host is the URL's", async () => {
  let seen: HttpRequest | undefined;
  const exchange = createHttpLoop(
    (request, reply) => {
      seen = request;
      reply.send(200, {}, "");
    },
    { headers: { "x-forwarded-for": "192.0.2.1" } },
  );
  await perform({ exchange, origin }, "/", { headers: { "Mcp-Method": "ping" } }).answer;
  expect(seen?.headers).toEqual({
    host: "server.example",
    "mcp-method": "ping",
    "x-forwarded-for": "192.0.2.1",
  });
});

test("a handler that throws breaks its own exchange only", async () => {
  const exchange = createHttpLoop((request, reply) => {
    if (request.path === "/bad") throw new Error("bug");
    reply.send(200, {}, "fine");
  });
  const bad = await perform({ exchange, origin }, "/bad").answer;
  expect(bad.failure).toEqual({ kind: "broken", message: "the handler failed: Error: bug" });
  expect((await perform({ exchange, origin }, "/good").answer).text).toBe("fine");
});
