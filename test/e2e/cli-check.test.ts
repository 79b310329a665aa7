import { describe, expect, it } from "vitest";
import { runCli, STDIO_SERVER } from "../support/cli.js";

describe("erabridge check", () => {
  it("says the era and the revision of a server, what it offers and what is lost", async () => {
    const cli = runCli(["check", "--", ...STDIO_SERVER]);
    expect(await cli.exit).toBe(0);
    const lines = cli.out().split("\n");
    expect(lines[0]).toBe("bench 1.0.0: legacy, revision 2025-11-25");
    expect(lines[1]).toMatch(/^ {2}found out by: \S/);
    expect(lines).toContain("  2 tools: echo, image");
    expect(cli.out()).toMatch(/^ {2}input-requests +\w/m);
    expect(cli.err()).toBe("");
  });

  it("says it in JSON for machines", async () => {
    const cli = runCli(["check", "--json", "--", ...STDIO_SERVER]);
    expect(await cli.exit).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({
      name: "bench",
      era: "legacy",
      revision: "2025-11-25",
      offers: { tools: ["echo", "image"] },
      faults: [],
      losses: expect.arrayContaining([expect.objectContaining({ row: "input-requests" })]),
    });
  });

  it.each([
    ["a command that does not exist", ["--", "no-such-command-anywhere"], /command not found/],
    ["a server that dies", ["--", process.execPath, "-e", "process.exit(4)"], /exit code 4/],
    ["a closed port", ["http://127.0.0.1:9/mcp"], /ECONNREFUSED/],
  ])("exits 3 for %s", async (_name, args, reason) => {
    const cli = runCli(["check", ...args]);
    expect(await cli.exit).toBe(3);
    expect(cli.err()).toMatch(reason);
    expect(cli.out()).toBe("");
  });
});
