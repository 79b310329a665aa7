// Preloaded into the official suite. Its mock servers name no host: they get the loopback address.
// It imports `globSync` from `fs` without using it, which Node 20 does not have.
import * as fs from "node:fs";
import { register } from "node:module";
import net from "node:net";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  // Where Node binds once the address is known. listen(port, host) would resolve the host first, and
  // some scenarios read the port right after listen().
  const bind = net.Server.prototype._listen2;
  net.Server.prototype._listen2 = function (address, port, family, ...rest) {
    const isOpen = address === null && port >= 0;
    return bind.call(this, isOpen ? "127.0.0.1" : address, port, isOpen ? 4 : family, ...rest);
  };
  if (!("globSync" in fs)) register(import.meta.url);
}

const fsWithGlob = `data:text/javascript,${encodeURIComponent(
  'export * from "node:fs"; export const globSync = undefined;',
)}`;

/** Module resolution hook: this file also runs in the loader's own thread. */
export function resolve(specifier, context, next) {
  const isSuite = context.parentURL?.includes("/@modelcontextprotocol/conformance/dist/");
  return specifier === "fs" && isSuite
    ? { url: fsWithGlob, shortCircuit: true }
    : next(specifier, context);
}
