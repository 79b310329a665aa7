import { Pool } from "undici";
import type { BenchCase } from "./cases.js";
import type { Subject } from "./subjects.js";

export interface Sample {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds of each request, in no order. */
  readonly latencies: Float64Array;
  /** Processor milliseconds of the subject's process. */
  readonly cpu: number | undefined;
}

/** A client of one subject that keeps its connections from one round to the next. */
export interface Load {
  run(seconds: number): Promise<Sample>;
  close(): Promise<void>;
}

const REVISIONS = { legacy: "2025-11-25", modern: "2026-07-28" } as const;
const CAPABILITIES = { elicitation: {}, sampling: {} };
const CLIENT = { name: "bench", version: "1.0.0" };

const COMMON = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
} as const;

/** The text of a request up to its id and behind it: writing the client's JSON is not measured. */
function requestAround(bench: BenchCase, era: Subject["era"]): readonly [string, string] {
  const envelope = {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": REVISIONS.modern,
      "io.modelcontextprotocol/clientInfo": CLIENT,
      "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    },
  };
  const params = {
    name: bench.tool,
    arguments: bench.arguments,
    ...(era === "modern" ? envelope : {}),
  };
  return ['{"jsonrpc":"2.0","id":', `,"method":"tools/call","params":${JSON.stringify(params)}}`];
}

async function openSession(pool: Pool, path: string): Promise<Record<string, string>> {
  const headers = { ...COMMON, "mcp-protocol-version": REVISIONS.legacy };
  const params = {
    protocolVersion: REVISIONS.legacy,
    capabilities: CAPABILITIES,
    clientInfo: CLIENT,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const answer = await pool.request({ method: "POST", path, headers: COMMON, body });
  await answer.body.dump();
  const session = answer.headers["mcp-session-id"];
  const opened = typeof session === "string" ? { ...headers, "mcp-session-id": session } : headers;
  const done = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const accepted = await pool.request({ method: "POST", path, headers: opened, body: done });
  await accepted.body.dump();
  return opened;
}

export async function openLoad(bench: BenchCase, subject: Subject): Promise<Load> {
  const { origin, pathname: path } = new URL(subject.url);
  const pool = new Pool(origin, { connections: bench.connections, pipelining: 1 });
  const headers =
    subject.era === "legacy"
      ? await openSession(pool, path)
      : {
          ...COMMON,
          "mcp-protocol-version": REVISIONS.modern,
          "mcp-method": "tools/call",
          "mcp-name": bench.tool,
        };
  const [before, behind] = requestAround(bench, subject.era);
  let lastId = 1;

  const once = async () => {
    lastId += 1;
    const body = `${before}${lastId}${behind}`;
    const answer = await pool.request({ method: "POST", path, headers, body });
    let bytes = 0;
    let last = "";
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes < 4_096) last += chunk.toString();
    }
    if (answer.statusCode !== 200 || bytes < bench.leastBytes || last.includes('"error":')) {
      throw new Error(`${subject.name}: status ${answer.statusCode}, ${bytes} bytes: ${last}`);
    }
  };

  return {
    async run(seconds) {
      const latencies: number[] = [];
      const cpuBefore = subject.cpu();
      const started = performance.now();
      const until = started + seconds * 1_000;
      const worker = async () => {
        for (let now = performance.now(); now < until; ) {
          await once();
          const done = performance.now();
          latencies.push(done - now);
          now = done;
        }
      };
      await Promise.all(Array.from({ length: bench.connections }, worker));
      const cpuAfter = subject.cpu();
      return {
        requests: latencies.length,
        seconds: (performance.now() - started) / 1_000,
        latencies: Float64Array.from(latencies),
        cpu: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
      };
    },
    close: () => pool.destroy(),
  };
}
