import type { UpstreamSettings } from "./settings.js";
import { UsageError } from "./usage-error.js";

/** Throws UsageError where credentials of clients are to be passed on and cannot be. */
export function checkSameResource({ name, connection, sameResource }: UpstreamSettings): void {
  if (!sameResource) return;
  if (connection.type !== "url" || !/^https?:/i.test(connection.url)) {
    throw new UsageError(
      `server ${name}: the same resource must be at an http(s) URL`,
      "only there does each request have credentials of its own",
    );
  }
  if (connection.headers["authorization"] !== undefined) {
    throw new UsageError(
      `server ${name}: the same resource gets the credentials of its clients`,
      "take its authorization header away, or --same-resource",
    );
  }
}
