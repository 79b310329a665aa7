import express, { type Express } from "express";
import { expect, test } from "vitest";
import { mountBridge } from "../../../adapters/http/express.js";
import { createUndiciExchange } from "../../../adapters/http/undici-exchange.js";
import type { HttpHandler } from "../../../src/index.js";
import { httpContract } from "../../contracts/http-contract.js";
import { serve } from "./serving.js";

const echo: HttpHandler = ({ path, body }, reply) => reply.send(200, {}, `${path} ${body}`);

async function mounted(mount: (app: Express) => void): Promise<string> {
  const app = express();
  mount(app);
  return (await serve(app)).origin;
}

async function post(url: string, body = "{}"): Promise<string> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual" });
  return `${answer.status} ${await answer.text()}`;
}

httpContract("undici and Express", async (handler) => {
  const origin = await mounted((app) => {
    app.use(createAnyPath(handler));
  });
  return { exchange: createUndiciExchange().exchange, origin };
});

/** A router that has the bridge at every path the contract uses. */
function createAnyPath(handler: HttpHandler): express.Router {
  const router = express.Router();
  mountBridge(router, "/", handler);
  mountBridge(router, "/mcp", handler);
  mountBridge(router, "/mcp/x y", handler);
  return router;
}

test("both spellings of a path are served without a redirect, other paths are not", async () => {
  const origin = await mounted((app) => mountBridge(app, "/mcp", echo));
  expect(await post(`${origin}/mcp`)).toBe("200 /mcp {}");
  expect(await post(`${origin}/mcp/`)).toBe("200 /mcp/ {}");
  expect(await post(`${origin}/mcp/other`)).toMatch(/^404 /);
  expect(await post(`${origin}/`)).toMatch(/^404 /);
});

test("a strict router serves both spellings too", async () => {
  const origin = await mounted((app) => {
    app.enable("strict routing");
    mountBridge(app, "/mcp/", echo);
  });
  expect(await post(`${origin}/mcp`)).toBe("200 /mcp {}");
  expect(await post(`${origin}/mcp/`)).toBe("200 /mcp/ {}");
});

test("a name with characters that mean something in paths is taken literally", async () => {
  const origin = await mounted((app) => mountBridge(app, "/mcp/a:b(c)*{d}", echo));
  expect(await post(`${origin}/mcp/a:b(c)*%7Bd%7D`)).toBe("200 /mcp/a:b(c)*%7Bd%7D {}");
  expect(await post(`${origin}/mcp/axx`)).toMatch(/^404 /);
});

test("under a mounted router the handler sees the whole path", async () => {
  const origin = await mounted((app) => {
    const router = express.Router();
    mountBridge(router, "/mcp", echo);
    app.use("/tenant", router);
  });
  expect(await post(`${origin}/tenant/mcp`)).toBe("200 /tenant/mcp {}");
});

test("after a body parser it says what is wrong, unless the parser kept the bytes", async () => {
  const parsed = await mounted((app) => {
    app.use(express.json());
    mountBridge(app, "/mcp", echo);
  });
  expect(await post(`${parsed}/mcp`)).toMatch(/^500 .*mount it before body parsers/);

  const kept = await mounted((app) => {
    app.use(
      express.json({
        verify(request, _response, bytes) {
          Object.assign(request, { rawBody: bytes });
        },
      }),
    );
    mountBridge(app, "/mcp", echo);
  });
  expect(await post(`${kept}/mcp`, '{"n": 1.0}')).toBe('200 /mcp {"n": 1.0}');
});
