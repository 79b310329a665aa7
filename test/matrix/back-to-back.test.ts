// rules: input-requests, sampling, roots, progress, cancellation, subscriptions, error-codes
import { afterAll, describe, expect, test } from "vitest";
import type { Era } from "../../src/index.js";
import { type ServerTarget, startServer } from "../conformance/start-server.js";
import { CLI, type RunningProcess, startServe } from "../support/process.js";
import type { Place } from "../support/sdk-peers.js";
import { acrossEras, nameOfSide, type Side, sides } from "./cells.js";
import { liveThrough } from "./story.js";

const running: RunningProcess[] = [];
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await Promise.all(stops.map((stop) => stop()));
});

async function start(side: Side): Promise<ServerTarget> {
  const server = await startServer(side);
  stops.push(() => server.stop());
  return server;
}

const upstreamOf = (target: ServerTarget): readonly string[] =>
  "url" in target ? [target.url] : target.command;

/**
 * Two bridges in a row that speak the other era with each other: the one at the client takes what is
 * behind it for that era, the one at the server serves no other.
 */
async function twoBridges(
  transport: Side["transport"],
  between: Era,
  target: ServerTarget,
): Promise<Place> {
  const atServer = ["--front-era", between];
  const atClient = ["--upstream-era", between];
  if (transport === "stdio") {
    const inner = [process.execPath, CLI, "wrap", ...atServer, "--", ...upstreamOf(target)];
    return { command: [process.execPath, CLI, "wrap", ...atClient, "--", ...inner] };
  }
  const inner = await startServe(upstreamOf(target), atServer);
  running.push(inner.process);
  const outer = await startServe([inner.url], atClient);
  running.push(outer.process);
  return { url: outer.url };
}

describe("two bridges in a row behave as none", () => {
  test.concurrent.each(sides.map((side) => [nameOfSide(side), side] as const))(
    "between %s peers",
    async (name, side) => {
      const server = await start(side);
      const direct = await liveThrough(side, await start(side), "direct");
      const between = side.era === "legacy" ? "modern" : "legacy";
      const place = await twoBridges(side.transport, between, server);
      expect(await liveThrough(side, place, name)).toEqual(acrossEras(direct, between, side.era));
    },
    60_000,
  );
});
