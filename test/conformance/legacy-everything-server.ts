/**
 * A legacy (2025-11-25) server with one of everything, on the official SDK v1.
 *
 *   tsx legacy-everything-server.ts --http [--reverse-on post|get]   prints {"url":"..."} as first line
 *   tsx legacy-everything-server.ts --stdio
 *
 * With `--reverse-on get` its reverse requests go out on the standalone GET stream.
 */
import { parseArgs } from "node:util";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createLegacyEndpoint } from "./fixtures/legacy-endpoint.js";
import { createLegacyServer } from "./fixtures/legacy-server.js";
import { listenOnLoopback } from "./fixtures/loopback-listener.js";

const { values } = parseArgs({
  options: {
    http: { type: "boolean", default: false },
    stdio: { type: "boolean", default: false },
    "reverse-on": { type: "string", default: "post" },
  },
});
if (values.http === values.stdio) throw new Error("choose one of --http and --stdio");

if (values.stdio) {
  await createLegacyServer("post").connect(new StdioServerTransport());
} else {
  listenOnLoopback(createLegacyEndpoint(values["reverse-on"] === "get" ? "get" : "post"));
}
