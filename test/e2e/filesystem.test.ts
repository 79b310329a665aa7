// rules: roots
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLI, FILESYSTEM, type RunningProcess, startServe } from "../support/process.js";
import { connectModern, type Place } from "../support/sdk-peers.js";

const SERVER = [process.execPath, FILESYSTEM];
const running: RunningProcess[] = [];
let one = "";
let two = "";

beforeAll(() => {
  [one, two] = ["one", "two"].map((name) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "erabridge-roots-")));
    writeFileSync(join(folder, "note.txt"), `note of ${name}`);
    return folder;
  }) as [string, string];
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  for (const folder of [one, two]) rmSync(folder, { recursive: true, force: true });
});

type Client = Awaited<ReturnType<typeof connectModern>>;

const clientAt = (place: Place, folder: string): Promise<Client> =>
  connectModern(place, { roots: [{ uri: pathToFileURL(folder).href, name: "root" }] });

const read = async (client: Client, folder: string): Promise<string> => {
  const result = await client.callTool({
    name: "read_text_file",
    arguments: { path: join(folder, "note.txt") },
  });
  const [block] = result.content as { text: string }[];
  return block?.text ?? "";
};

test("the first call of a wrapped client finds the server with its roots", async () => {
  const client = await clientAt({ command: [process.execPath, CLI, "wrap", "--", ...SERVER] }, one);
  expect(await read(client, one)).toBe("note of one");
  expect(await read(client, two)).toMatch(/denied/i);
  await client.close();
});

test("a client that thinks for longer than a question is held still finds its roots", async () => {
  const { url, process: bridge } = await startServe(SERVER, ["--limit", "rootsHoldMs=300"]);
  running.push(bridge);
  const client = await clientAt({ url }, one);
  await client.listTools();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await read(client, one)).toBe("note of one");
  await client.close();
});

test("clients with other roots, of other principals, each see their own", async () => {
  const { url, process: bridge } = await startServe(SERVER, [
    "--token",
    "ana:ana-token",
    "--token",
    "ben:ben-token",
  ]);
  running.push(bridge);
  const [ana, ben] = await Promise.all([
    clientAt({ url, token: "ana-token" }, one),
    clientAt({ url, token: "ben-token" }, two),
  ]);
  const [own, other, foreign] = [await read(ana, one), await read(ben, two), await read(ana, two)];
  expect(own).toBe("note of one");
  expect(other).toBe("note of two");
  expect(foreign).toMatch(/denied/i);
  await ana.close();
  await ben.close();
});
