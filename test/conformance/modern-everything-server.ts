/**
 * A modern-only (2026-07-28) server with one of everything, on the official SDK v2; it refuses `initialize`.
 *
 *   tsx modern-everything-server.ts --http    prints {"url":"..."} as first line
 *   tsx modern-everything-server.ts --stdio
 */
import { parseArgs } from "node:util";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { listenOnLoopback } from "./fixtures/loopback-listener.js";
import { type Announce, createModernServer } from "./fixtures/modern-server.js";

const announceOnConnection: Announce = async (server, change) => {
  switch (change.type) {
    case "tools":
      return server.sendToolListChanged();
    case "prompts":
      return server.sendPromptListChanged();
    case "resource":
      return server.server.sendResourceUpdated({ uri: change.uri });
  }
};

function serveHttp(): void {
  const announceOnEndpoint: Announce = async (_server, change) => {
    switch (change.type) {
      case "tools":
        return endpoint.notify.toolsChanged();
      case "prompts":
        return endpoint.notify.promptsChanged();
      case "resource":
        return endpoint.notify.resourceUpdated(change.uri);
    }
  };
  const endpoint = createMcpHandler(() => createModernServer(announceOnEndpoint), {
    legacy: "reject",
  });
  const handle = toNodeHandler(endpoint);
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  listenOnLoopback((request, response) => handle(request as NodeIncomingMessageLike, response));
}

const { values } = parseArgs({
  options: {
    http: { type: "boolean", default: false },
    stdio: { type: "boolean", default: false },
  },
});
if (values.http === values.stdio) throw new Error("choose one of --http and --stdio");

if (values.stdio) {
  serveStdio(() => createModernServer(announceOnConnection), { legacy: "reject" });
} else {
  serveHttp();
}
