import { describe, expect, it } from "vitest";
import { commandHelp, overviewHelp } from "../../../adapters/cli/help.js";

describe("help", () => {
  it("fits a terminal of 100 columns", () => {
    const pages = [
      overviewHelp("1.2.3"),
      ...(["wrap", "serve", "check"] as const).map(commandHelp),
    ];
    for (const line of pages.join("").split("\n"))
      expect(line.length, line).toBeLessThanOrEqual(104);
  });

  it("of a command lists its options and no others", () => {
    expect(commandHelp("wrap")).toContain("--eof-grace TIME");
    expect(commandHelp("wrap")).not.toContain("--port N");
    expect(commandHelp("serve")).toContain("--port N");
    expect(commandHelp("demo")).not.toContain("Options:");
  });

  it("names every command, the exit codes and where to start", () => {
    const page = overviewHelp("1.2.3");
    for (const command of ["wrap", "serve", "check", "explain", "demo"]) {
      expect(page).toMatch(new RegExp(`^  ${command} +\\w`, "m"));
    }
    expect(page).toContain("1.2.3");
    expect(page).toContain("5 the port is taken");
    expect(page).toContain("erabridge demo");
  });
});
