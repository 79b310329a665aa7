import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_BRIDGING, DEFAULT_LISTEN } from "../../../adapters/sidecar/settings.js";
import { createSidecar } from "../../../adapters/sidecar/sidecar.js";
import { createSystemPorts } from "../../../adapters/system/ports.js";
import { freePort, serve } from "../http/serving.js";

async function open() {
  const connection = {
    type: "url",
    url: `http://127.0.0.1:${await freePort()}/mcp`,
    headers: {},
  } as const;
  const upstream = { name: "a b", connection, ...DEFAULT_BRIDGING, lazy: true };
  const settings = {
    listen: { ...DEFAULT_LISTEN, port: 0 },
    mounts: [{ path: "/mcp/a b", upstream }],
  };
  const sidecar = createSidecar(settings, createSystemPorts({ level: "silent" }));
  onTestFinished(() => sidecar.stop());
  return sidecar;
}

/** What is no JSON is refused by the endpoint itself, whatever stands behind it. */
async function codeAt(url: string): Promise<unknown> {
  const answer = await fetch(url, { method: "POST", body: "{", headers: JSON_BODY });
  const body = (await answer.json()) as { readonly error: { readonly code: number } };
  return body.error.code;
}

const JSON_BODY = { "content-type": "application/json" };

test("a path leads to its bridge however it is spelled, with a query or without", async () => {
  const origin = await (await open()).listen();
  expect(await codeAt(`${origin}/mcp/a%20b`)).toBe(-32700);
  expect(await codeAt(`${origin}/mcp/a%20b/?x=1`)).toBe(-32700);
  expect(await codeAt(`${origin}/%6dcp/%61%20b`)).toBe(-32700);
  expect((await fetch(`${origin}/mcp`, { method: "POST" })).status).toBe(404);
  expect(await (await fetch(`${origin}/healthz`)).text()).toBe("ok\n");
});

test("the application serves the same behind another listener", async () => {
  const { app } = await open();
  const { origin } = await serve(app);
  expect(await codeAt(`${origin}/mcp/a%20b?x=1`)).toBe(-32700);
  expect(await (await fetch(`${origin}/healthz`)).text()).toBe("ok\n");
});
