import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { type RunningProcess, startProcess } from "../../support/process.js";
import { bridgedBy } from "../bridged.js";
import { buildGo, buildPython, type PeerCommand } from "./build.js";

const ON = process.env["ERABRIDGE_POLYGLOT"] === "1";
const BUILD_MS = 900_000;

const running: RunningProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
});

/** What a client program saw of the server behind the bridge. */
async function seenBy(client: PeerCommand, upstream: readonly string[]): Promise<unknown> {
  const place = await bridgedBy("serve", upstream, running);
  const [program = "", ...args] = client;
  const url = "url" in place ? place.url : "";
  const { stdout } = await promisify(execFile)(program, [...args, url], { timeout: 60_000 });
  return JSON.parse(stdout);
}

const ANSWERS = {
  echo: "echo: héllo",
  ask: "accept Ada",
  sample: "assistant: sampled why?",
  roots: "file:///tmp/one",
  steps: [1, 2, 3],
  note: "one",
};

/** Slow, and in need of toolchains and their package registries. */
describe.skipIf(!ON)("ERABRIDGE_POLYGLOT=1: through the bridge", () => {
  test(
    "the legacy client of the Python SDK 1.30 uses a server of the Go SDK 1.8 without sessions",
    async () => {
      const client = await buildPython("legacy", "legacy_client.py");
      const [program = "", ...args] = await buildGo("modern");
      const server = startProcess(program, [...args, "http"]);
      running.push(server);
      const [url = ""] = await server.waitFor(/http:\/\/\S+/);
      expect(await seenBy(client, [url])).toMatchObject({
        ...ANSWERS,
        revision: "2025-11-25",
        server: "go-modern",
      });
    },
    BUILD_MS,
  );

  test(
    "the modern client of the Python SDK 2.3 uses a legacy server of the Python SDK 1.30",
    async () => {
      const client = await buildPython("modern", "modern_client.py");
      const server = await buildPython("legacy", "legacy_server.py");
      expect(await seenBy(client, [...server, "stdio"])).toMatchObject(ANSWERS);
    },
    BUILD_MS,
  );
});
