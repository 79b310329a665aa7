// rules: input-requests, progress, cancellation, subscriptions, error-codes, result-type
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RULES } from "../../src/index.js";
import { type ServerTarget, startServer } from "../conformance/start-server.js";
import { bridgedBy } from "../peers/bridged.js";
import { firstText } from "../peers/peer.js";
import type { RunningProcess } from "../support/process.js";
import { acrossEras, cells, differences, nameOfSide, type Side, sides } from "./cells.js";
import { liveThrough, type Story } from "./story.js";

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

const direct = new Map<string, Story>();

/** What a client of the server's own era lived through without a bridge. */
function directRun(side: Side): Story {
  const story = direct.get(nameOfSide(side));
  if (story === undefined) throw new Error(`no direct run with a ${nameOfSide(side)} server`);
  return story;
}

beforeAll(async () => {
  for (const side of sides) {
    direct.set(nameOfSide(side), await liveThrough(side, await start(side), "direct"));
  }
}, 60_000);

/** What servers of different eras have in common: each has its own words for what is unknown. */
function common({ errors: { tool }, ...story }: Story) {
  return { ...story, tool };
}

describe("without a bridge", () => {
  test.each(sides.map((side) => [nameOfSide(side), side] as const))("%s peers", (_, side) => {
    const story = directRun(side);
    expect(common(story)).toEqual(common(directRun({ era: "modern", transport: "http" })));
    expect(story.progress).toEqual({
      text: "in step",
      values: [
        [1, 2],
        [2, 2],
      ],
    });
    expect(story.answered.map(firstText)).toEqual([
      "Hello, Ada!",
      "Sampling response: Hello there!",
      "Client exposed 1 root(s): file:///work",
      "Hello there! Ada - 1 root(s)",
      "Ada likes green",
    ]);
    expect(story.cancelled).toEqual({ client: "given up", server: "yes" });
    expect(story.changes).toEqual(["test://watched-resource", "tools"]);
    expect(story.large).toEqual({ length: 5_000_000, sound: true });
    expect(story.errors).toMatchObject({
      tool: { isError: true },
      noResource: { code: -32602 },
      noPrompt: { code: -32602 },
    });
  });
});

describe("with a bridge between them", () => {
  test.concurrent.each(cells.map((cell) => [cell.name, cell] as const))(
    "%s",
    async (name, cell) => {
      const target = await start(cell.server);
      const upstream = "url" in target ? [target.url] : target.command;
      const front = cell.client.transport === "stdio" ? "wrap" : "serve";
      const place = await bridgedBy(front, upstream, running);
      const expected = acrossEras(directRun(cell.server), cell.client.era, cell.server.era);
      expect(await liveThrough(cell.client, place, name)).toEqual(expected);
    },
    60_000,
  );
});

test("there are sixteen cells, and every difference is a row of the matrix", () => {
  expect(new Set(cells.map(({ name }) => name)).size).toBe(16);
  const rules = RULES.map(({ id }) => id);
  for (const { rule } of differences) expect(rules).toContain(rule);
});
