import { describe, expect, it } from "vitest";
import { readArguments } from "../../../adapters/cli/arguments.js";
import { explain, findRules } from "../../../adapters/cli/explain.js";

async function explained(...words: readonly string[]) {
  const invocation = readArguments(["explain", ...words], {});
  if (invocation.type !== "run") throw new Error(invocation.type);
  let text = "";
  const out = (part: string) => {
    text += part;
  };
  const code = await explain(invocation.options, {
    env: {},
    out,
    err: out,
    columns: undefined,
    interactive: false,
  });
  return { code, text };
}

describe("explain", () => {
  it("prints the row about a method, with both directions, the loss and the specification", async () => {
    const { code, text } = await explained("elicitation/create");
    expect(code).toBe(0);
    expect(text).toContain("elicitation: ");
    expect(text).toMatch(/modern client, legacy server: translated/);
    expect(text).toMatch(/legacy client, modern server: \w/);
    expect(text).toContain("2026-07-28/client/elicitation");
  });

  it("finds rows by their name, in any case, and prefers an exact name to a part of one", () => {
    expect(findRules("PROGRESS").map(({ id }) => id)).toEqual(["progress"]);
    expect(findRules("ping").map(({ id }) => id)).toEqual(["liveness"]);
  });

  it("lists all rows when nothing is asked", async () => {
    const { text } = await explained();
    for (const id of ["advertisement", "input-requests", "tasks"]) {
      expect(text).toMatch(new RegExp(`^${id} `, "m"));
    }
  });

  it("prints JSON for machines", async () => {
    const { text } = await explained("--json", "ping");
    expect(JSON.parse(text)).toMatchObject([{ id: "liveness" }]);
  });

  it("says that what has no row is carried, and what was probably meant", async () => {
    await expect(explained("elicitatoin")).rejects.toMatchObject({
      message: expect.stringContaining("carried as it comes"),
      hint: "did you mean elicitation?",
    });
  });
});
