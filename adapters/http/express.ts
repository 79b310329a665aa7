import type { IRouter } from "express";
import type { HttpHandler } from "../../src/index.js";
import { createNodeHandler, type NodeHandlerOptions } from "./node-http.js";

/**
 * Serves an HTTP handler at a path of an Express application or router, with and without a slash at
 * its end and without a redirect between the two: clients lose headers on redirects. Mount it
 * before body parsers.
 */
export function mountBridge(
  router: Pick<IRouter, "all">,
  path: string,
  handler: HttpHandler,
  options: NodeHandlerOptions = {},
): void {
  // Requests are matched as they are spelled on the wire.
  const plain = new URL(path, "http://localhost").pathname.replace(/\/+$/, "");
  // Characters with a meaning of their own in Express paths may occur in an upstream's name.
  const literal = plain.replace(/[{}()[\]+?!:*\\]/g, "\\$&");
  const paths = literal === "" ? ["/"] : [literal, `${literal}/`];
  router.all(paths, createNodeHandler(handler, options));
}
