import { expect, test } from "vitest";
import { liftAdvertisement } from "../../src/translation/advertisement.js";

const LISTENING = { revision: "2025-11-25", listens: true } as const;
const initialize = (capabilities: string, rest = ""): string =>
  `{"protocolVersion":"2025-11-25","capabilities":${capabilities},"serverInfo":{"name":"s","version":"1"}${rest}}`;

test("an initialize result becomes a discover result", () => {
  const { result, ...facts } = liftAdvertisement(
    initialize(
      '{"tools":{"listChanged":true},"experimental":{"a":{}}}',
      ',"instructions":"use \\u0041"',
    ),
    LISTENING,
  );
  expect(JSON.parse(result)).toEqual({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: { listChanged: true }, experimental: { a: {} } },
    instructions: "use A",
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
  });
  expect(facts).toEqual({
    era: "legacy",
    revision: "2025-11-25",
    capabilities: '{"tools":{"listChanged":true},"experimental":{"a":{}}}',
    serverInfo: '{"name":"s","version":"1"}',
    instructions: '"use \\u0041"',
  });
});

test("legacy tasks are not advertised", () => {
  const { capabilities } = liftAdvertisement(
    initialize('{"tasks":{"list":{}},"tools":{}}'),
    LISTENING,
  );
  expect(capabilities).toBe('{"tools":{}}');
});

test("changes are not promised where none can arrive", () => {
  const { capabilities } = liftAdvertisement(
    initialize('{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}}'),
    { revision: "2025-06-18", listens: false },
  );
  expect(capabilities).toBe('{"tools":{},"resources":{}}');
});

test("a 2024-11-05 server with prompts or resources can complete, though it cannot say so", () => {
  const old = { revision: "2024-11-05", listens: true } as const;
  expect(liftAdvertisement(initialize('{"prompts":{}}'), old).capabilities).toBe(
    '{"prompts":{},"completions":{}}',
  );
  expect(liftAdvertisement(initialize('{"tools":{}}'), old).capabilities).toBe('{"tools":{}}');
});
