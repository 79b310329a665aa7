/**
 * A server of an older revision on the official SDK of its time.
 *
 *   tsx older-server.ts --revision 2024-11-05 --transport stdio|sse|http|ws
 *
 * Unless over stdio, its URL is the first line of stdout.
 */
import { parseArgs } from "node:util";
import { OLDER_REVISIONS } from "./content.js";
import { httpAndSse, listen, streamableHttp } from "./http.js";
import { loadSdk } from "./sdk.js";
import { createOlderServer } from "./server.js";
import { listenForSockets } from "./websocket.js";

const { values } = parseArgs({
  options: {
    revision: { type: "string", default: "" },
    transport: { type: "string", default: "stdio" },
  },
});
const revision = OLDER_REVISIONS.find((known) => known === values.revision);
if (revision === undefined) throw new Error(`no SDK for revision "${values.revision}"`);
const sdk = await loadSdk(revision);

if (values.transport === "http") listen(streamableHttp(sdk, revision), "/mcp");
else if (values.transport === "ws") listenForSockets(sdk, revision);
else if (values.transport === "sse") listen(httpAndSse(sdk, revision), "/sse");
else await createOlderServer(sdk, revision).connect(new sdk.StdioServerTransport());
