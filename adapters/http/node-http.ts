import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import {
  DEFAULT_LIMITS,
  type HttpHandler,
  type HttpHeaders,
  type HttpReply,
  type HttpStream,
} from "../../src/index.js";
import { createDeparture } from "./departure.js";
import { decodeBody, type RequestBody, readBody } from "./request-body.js";

export interface NodeHandlerOptions {
  /** Longest request body; the default is the bridge's. */
  readonly maxBodyBytes?: number | undefined;
  /** Told what the handler threw; the client gets a 500 without it. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves an HTTP handler from `node:http`, or as Express middleware. It reads the body itself: a
 * body parser that ran before it must have left the bytes in `request.rawBody`, otherwise the answer
 * is a 500 that says so.
 */
export function createNodeHandler(
  handler: HttpHandler,
  options: NodeHandlerOptions = {},
): NodeHandler {
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_LIMITS.maxMessageBytes;
  const fault = (error: unknown, response: ServerResponse): void => {
    options.onFault?.(error);
    if (response.headersSent) response.destroy();
    else sendProblem(response, "Internal error");
  };
  return (request, response) => {
    response.on("error", ignore);
    request.on("error", ignore);
    const take = (body: RequestBody): void => {
      if (response.destroyed) return;
      if (body.bodyProblem === "oversized") response.setHeader("connection", "close");
      try {
        handle(handler, request, response, body);
      } catch (error) {
        fault(error, response);
      }
    };
    if (!request.readableEnded) {
      readBody(request, maxBodyBytes, take);
      return;
    }
    const { rawBody } = request as { readonly rawBody?: unknown };
    if (typeof rawBody === "string") take({ body: rawBody, bodyProblem: undefined });
    else if (rawBody instanceof Uint8Array) take(decodeBody(rawBody));
    else sendProblem(response, "the body was read before the bridge: mount it before body parsers");
  };
}

function ignore(): void {
  // The end of the connection is seen as `close`.
}

function handle(
  handler: HttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  body: RequestBody,
): void {
  // Express strips the mount point from `url`.
  const { originalUrl } = request as { readonly originalUrl?: string };
  const url = toRelative(originalUrl ?? request.url ?? "/");
  const query = url.indexOf("?");
  const { departure, depart } = createDeparture();
  const leave = (): void => {
    if (!response.writableFinished) depart();
  };
  response.on("close", leave);
  if (response.socket === null) watchQueued(request, response, leave);
  handler(
    {
      method: request.method ?? "GET",
      path: query === -1 ? url : url.slice(0, query),
      query: query === -1 ? "" : url.slice(query + 1),
      headers: toHeaders(request),
      body: body.body,
      bodyProblem: body.bodyProblem,
    },
    createReply(response),
    departure,
  );
}

/**
 * A response that waits behind those to earlier requests of its connection has no socket yet, and does
 * not hear of the connection's end.
 */
function watchQueued(
  { socket }: IncomingMessage,
  response: ServerResponse,
  leave: () => void,
): void {
  if (socket.destroyed) {
    leave();
    return;
  }
  socket.once("close", leave);
  response.once("close", () => socket.off("close", leave));
}

/** A request line may hold a whole URL. */
function toRelative(url: string): string {
  if (url.startsWith("/") || !URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Node has joined repeated headers, all but this one. */
function toHeaders({ headers }: IncomingMessage): HttpHeaders {
  const cookies = headers["set-cookie"];
  if (cookies === undefined) return headers as HttpHeaders;
  return { ...(headers as HttpHeaders), "set-cookie": cookies.join(", ") };
}

function createReply(response: ServerResponse): HttpReply {
  return {
    send(status, headers, body) {
      if (response.destroyed) return;
      const { bytes, encoding, length } = toWritable(body);
      // Fields in a flat list are written as they stand; an object would be copied first.
      const fields: OutgoingHttpHeader[] = ["content-length", length];
      for (const name in headers) fields.push(name, headers[name] ?? "");
      response.writeHead(status, fields);
      response.end(bytes, encoding);
    },
    open(status, headers) {
      if (!response.destroyed) {
        response.writeHead(status, headers);
        // Later, so that what is written right away travels in the same packet.
        process.nextTick(() => {
          if (!response.destroyed) response.flushHeaders();
        });
      }
      return createStream(response);
    },
  };
}

/** Node joins a text with the head, which costs a copy more than the bytes of a long one. */
const LONG_TEXT = 65_536;

function toWritable(body: string) {
  if (body.length >= LONG_TEXT) {
    const bytes = Buffer.from(body);
    return { bytes, encoding: "utf8", length: bytes.length } as const;
  }
  const length = Buffer.byteLength(body);
  // As many bytes as characters: all is ASCII, which is copied rather than encoded.
  return { bytes: body, encoding: length === body.length ? "latin1" : "utf8", length } as const;
}

function createStream(response: ServerResponse): HttpStream {
  return {
    write(text) {
      if (!response.destroyed && !response.writableEnded) response.write(text);
    },
    end() {
      if (!response.destroyed && !response.writableEnded) response.end();
    },
    destroy() {
      response.destroy();
    },
    get backlog() {
      return response.destroyed ? 0 : response.writableLength;
    },
  };
}

function sendProblem(response: ServerResponse, message: string): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32603, message } });
  response.writeHead(500, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
