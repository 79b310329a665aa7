import { describe, expect, it } from "vitest";
import { formatCrossings, formatHead } from "../../../adapters/demo/columns.js";
import { createTranscript } from "../../../adapters/demo/transcript.js";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

function crossings() {
  const transcript = createTranscript();
  const say = (side: "client" | "server", direction: "up" | "down", message: object) =>
    transcript.record(side, direction, JSON.stringify({ jsonrpc: "2.0", ...message }));
  const params = { name: "book", arguments: { at: "x".repeat(300) } };
  say("client", "up", { id: 1, method: "tools/call", params: { ...params, _meta: META } });
  say("server", "up", { id: 7, method: "tools/call", params });
  say("server", "down", {
    id: "q",
    method: "elicitation/create",
    params: { message: "How many?" },
  });
  say("client", "down", {
    id: 1,
    result: { resultType: "input_required", requestState: "s".repeat(500) },
  });
  say("server", "down", { id: 7, error: { code: -32603, message: "broken" } });
  return transcript.all;
}

describe("the two columns of the demonstration", () => {
  it("show a message beside the one it became, with arrows, ids and names", () => {
    const lines = formatCrossings(crossings(), { width: 100, colour: false }).split("\n");
    expect(lines[0]).toMatch(/^──▶ #1 tools\/call book +│ ──▶ #7 tools\/call book$/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^◀── #1 input_required +│ ◀── #"q" elicitation\/create$/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^ +│ ◀── #7 error -32603$/));
    expect(lines.join("\n")).toContain("envelope: 2026-07-28, can elicitation");
    expect(lines.join("\n")).toContain("requestState: ssssssss… (sealed)");
  });

  it.each([46, 60, 84, 100, 160, 300])("keep within %i columns", (width) => {
    const terminal = { width, colour: false };
    const text = `${formatHead(terminal)}\n${formatCrossings(crossings(), terminal)}`;
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(width);
  });

  it("stand one below the other where there is no room for two", () => {
    const text = formatCrossings(crossings(), { width: 60, colour: false });
    expect(text).toMatch(/^\[client\] ──▶ #1 tools\/call book$/m);
    expect(text).toMatch(/^\[server\] ◀── #"q" elicitation\/create$/m);
    expect(text).not.toContain("│");
  });

  it("have colours only where they are asked for", () => {
    const esc = String.fromCharCode(27);
    expect(formatCrossings(crossings(), { width: 100, colour: false })).not.toContain(esc);
    expect(formatCrossings(crossings(), { width: 100, colour: true })).toContain(`${esc}[36m`);
  });
});
