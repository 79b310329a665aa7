import type { Express } from "express";
import { createOriginGuard, type HttpExchange, type HttpHeaders } from "../../src/index.js";
import { createUndiciExchange } from "../http/undici-exchange.js";
import { allowedHostsOf } from "./listener.js";
import type { Served } from "./served.js";
import type { ListenSettings, UrlConnection } from "./settings.js";

export interface ResourceMetadataDeps {
  readonly mounts: { list(): readonly Pick<Served, "path" | "settings">[] };
  readonly listen: ListenSettings;
}

export interface ResourceMetadata {
  close(): Promise<void>;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
/** The document names a few URLs and scopes. */
const MAX_BYTES = 256 * 1024;
/** A client waits for it before it can do anything else. */
const TIMEOUT_MS = 10_000;
const PASSED = ["content-type", "cache-control", "location"] as const;

/**
 * Hands on what servers say of whom they trust (RFC 9728), for those that the bridge is the same
 * resource as: the document without a suffix, and the one with the path of the resource.
 */
export function mountResourceMetadata(app: Express, deps: ResourceMetadataDeps): ResourceMetadata {
  const { mounts, listen } = deps;
  const { allowedOrigins } = listen;
  const guard = createOriginGuard({ allowedHosts: allowedHostsOf(listen), allowedOrigins });
  const { exchange, close } = createUndiciExchange();

  /** The server that a document is about. */
  const serverOf = (suffix: string): UrlConnection | undefined => {
    const shared = mounts.list().flatMap(({ path, settings: { connection, sameResource } }) => {
      return sameResource && connection.type === "url" ? [{ path, connection }] : [];
    });
    const named = shared.find(({ path }) => encodeURI(path) === suffix);
    const [only, ...others] = shared;
    if (named !== undefined || only === undefined || others.length > 0) return named?.connection;
    const known = ["", new URL(only.connection.url).pathname];
    return known.includes(suffix) ? only.connection : undefined;
  };

  app.use((request, response, next) => {
    const { path, method } = request;
    const server = path.startsWith(WELL_KNOWN)
      ? serverOf(path.slice(WELL_KNOWN.length))
      : undefined;
    if (server === undefined) {
      next();
      return;
    }
    const { origin } = request.headers;
    const refusal = guard(request.headers as HttpHeaders);
    if (refusal !== undefined) {
      response.status(403).type("text").send(`${refusal}\n`);
      return;
    }
    if (origin !== undefined) {
      response.set({ "access-control-allow-origin": origin, vary: "Origin" });
    }
    if (method === "OPTIONS") {
      response.set({ "access-control-allow-headers": "mcp-protocol-version" });
      response.status(204).set("allow", "GET").end();
    } else if (method !== "GET") response.status(405).set("allow", "GET").end();
    else {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      fetchDocument(exchange, server, path, gone.signal).then(({ status, headers, body }) => {
        if (gone.signal.aborted) return;
        response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
      }, next);
    }
  });
  return { close };
}

interface Document {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: Buffer;
}

/** A server that cannot be asked is a 502, one that does not answer in time a 504. */
function fetchDocument(
  exchange: HttpExchange,
  { url, headers }: UrlConnection,
  path: string,
  signal: AbortSignal,
): Promise<Document> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let head: Omit<Document, "body"> = { status: 502, headers: {} };
    let size = 0;
    const settle = (document: Document): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(document);
    };
    const fail = (status: number): void => settle({ status, headers: {}, body: Buffer.alloc(0) });
    const stop = (): void => {
      fail(502);
      abort();
    };
    const timer = setTimeout(() => {
      fail(504);
      abort();
    }, TIMEOUT_MS);
    signal.addEventListener("abort", stop);
    const target = new URL(path, url).href;
    const asked = { ...headers, accept: "application/json" };
    const abort = exchange(
      { method: "GET", url: target, headers: asked, body: undefined },
      {
        head(status, answered) {
          head = { status, headers: pick(answered) };
        },
        data(chunk) {
          size += chunk.length;
          if (size <= MAX_BYTES) chunks.push(chunk);
          else stop();
        },
        end: () => settle({ ...head, body: Buffer.concat(chunks) }),
        failed: () => fail(502),
      },
    );
  });
}

function pick(headers: HttpHeaders): HttpHeaders {
  const picked: Record<string, string> = {};
  for (const name of PASSED) {
    const value = headers[name];
    // Whatever else a field may hold, Node would not write it.
    if (value !== undefined && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) picked[name] = value;
  }
  return picked;
}
