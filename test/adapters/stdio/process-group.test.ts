import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually, isAlive } from "./servers.js";

const host = fileURLToPath(new URL("child-host.ts", import.meta.url));

test.each([
  ["exit", 0],
  ["crash", 1],
  ["signal", 143],
])("no process stays behind when this one ends by %s", async (how, code) => {
  const { pids, status } = await new Promise<{ pids: number[]; status: unknown }>((resolve) => {
    execFile(process.execPath, ["--import", "tsx", host, how], (error, stdout) =>
      resolve({ pids: stdout.trim().split(" ").map(Number), status: error?.code ?? 0 }),
    );
  });
  expect(status).toBe(code);
  expect(pids).toHaveLength(2);
  await eventually(() => !pids.some(isAlive));
});
