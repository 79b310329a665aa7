import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";

describe("erabridge", () => {
  it("prints its help and its version on standard output and exits 0", async () => {
    const help = runCli(["--help"]);
    const version = runCli(["--version"]);
    expect(await help.exit).toBe(0);
    expect(help.out()).toContain("erabridge wrap [options] -- <command>");
    expect(await version.exit).toBe(0);
    expect(version.out()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("exits 2 with a hint on standard error when it is used wrongly", async () => {
    const cli = runCli(["serve", "--prot", "1"]);
    expect(await cli.exit).toBe(2);
    expect(cli.out()).toBe("");
    expect(cli.err()).toBe("erabridge: unknown option --prot\n  did you mean --port?\n");
  });

  it("does not mind that nobody reads its output", async () => {
    const cli = runCli(["explain"]);
    cli.child.stdout.destroy();
    expect([0, 1]).toContain(await cli.exit);
    expect(cli.err()).not.toContain("Error");
  });
});

describe("erabridge demo", () => {
  it.each([
    ["100", 100],
    ["160", 160],
    ["60", 60],
  ])("shows the conversation in %s columns, and exits 0", async (columns, width) => {
    const cli = runCli(["demo"], { COLUMNS: columns });
    expect(await cli.exit).toBe(0);
    const text = cli.out();
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(width);
    for (const shown of [
      "server/discover",
      "initialize",
      "input_required",
      "elicitation/create",
      "notifications/progress",
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).toContain("Table for 4 at Café Luso.");
    expect(text).toContain("Saved: The Belém Tower.");
    expect(cli.err()).toBe("");
  });
});
