import { describe, expect, test } from "vitest";
import type { Advertisement } from "../../src/model/advertisement.js";
import type { LegacyRevision } from "../../src/model/era.js";
import { lowerAdvertisement } from "../../src/translation/lower-advertisement.js";

const RESULT =
  '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"extensions":{"io.modelcontextprotocol/tasks":{},"com.acme/x":{}}},"instructions":"a\\u0062","ttlMs":0,"cacheScope":"private","zzz":1.0,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}';

const modern: Advertisement = {
  era: "modern",
  revision: "2026-07-28",
  result: RESULT,
  capabilities: "{}",
  serverInfo: '{"name":"s","version":"1"}',
  instructions: '"a\\u0062"',
};

const lower = (
  advertisement: Advertisement,
  revision: LegacyRevision,
  unheard: readonly ("tools" | "prompts" | "resources")[] = [],
): unknown =>
  JSON.parse(lowerAdvertisement(advertisement, { revision, upstreamName: "up", unheard }));

describe("a discover result as the result of initialize", () => {
  test("names the revision, the server and what it can do", () => {
    expect(lower(modern, "2025-11-25")).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        extensions: { "com.acme/x": {} },
      },
      instructions: "ab",
      serverInfo: { name: "s", version: "1" },
      zzz: 1,
    });
  });

  test("has no capability that the first revision did not know", () => {
    expect(lower(modern, "2024-11-05")).toMatchObject({ protocolVersion: "2024-11-05" });
    expect(lower(modern, "2024-11-05")).not.toHaveProperty("capabilities.completions");
    expect(lower(modern, "2024-11-05")).not.toHaveProperty("capabilities.extensions");
  });

  test("does not promise changes that the server will not tell", () => {
    expect(lower(modern, "2025-11-25", ["resources"])).toMatchObject({
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    });
    expect(lower(modern, "2025-11-25", ["resources"])).not.toHaveProperty(
      "capabilities.resources.listChanged",
    );
  });

  test("names the upstream where the server does not name itself", () => {
    expect(lower({ ...modern, serverInfo: undefined }, "2025-11-25")).toMatchObject({
      serverInfo: { name: "up", version: "unknown" },
    });
  });
});
