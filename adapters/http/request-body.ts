import { isAscii, isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { HttpRequest } from "../../src/index.js";

export type RequestBody = Pick<HttpRequest, "body" | "bodyProblem">;

const EMPTY: RequestBody = { body: "", bodyProblem: undefined };
const OVERSIZED: RequestBody = { body: undefined, bodyProblem: "oversized" };
const NOT_UTF8: RequestBody = { body: undefined, bodyProblem: "not-utf8" };

/**
 * Reads a request's body, whole and at most `maxBytes`. Nothing is called when the client goes away
 * before its end. What comes after an oversized body's limit is thrown away, so that the client can
 * read the answer; a client that sends as much again is cut off.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  take: (body: RequestBody) => void,
): void {
  const { headers } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) {
    take(EMPTY);
    return;
  }
  let chunks: Buffer[] = [];
  let size = 0;
  let refused = false;
  const refuse = (): void => {
    refused = true;
    chunks = [];
    take(OVERSIZED);
  };
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > 2 * maxBytes) request.destroy();
    else if (refused) return;
    else if (size > maxBytes) refuse();
    else chunks.push(chunk);
  });
  request.on("end", () => {
    if (!refused) take(decodeBody(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  });
  if (Number(headers["content-length"]) > maxBytes) refuse();
}

/** The text of a body that somebody else has read. */
export function decodeBody(bytes: Uint8Array | undefined): RequestBody {
  if (bytes === undefined) return EMPTY;
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  // Mostly true, and then the text takes half the memory.
  if (isAscii(buffer)) return { body: buffer.toString("latin1"), bodyProblem: undefined };
  return isUtf8(buffer) ? { body: buffer.toString("utf8"), bodyProblem: undefined } : NOT_UTF8;
}
