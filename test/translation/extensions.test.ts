import { expect, test } from "vitest";
import { createDraft } from "../../src/jsonrpc/draft.js";
import { stripHopExtensions } from "../../src/translation/extensions.js";

const strip = (text: string): string => {
  const draft = createDraft(text);
  stripHopExtensions(draft);
  return draft.text();
};

test("extensions pass, but those that hold between neighbours", () => {
  expect(
    strip(
      '{"extensions":{"io.modelcontextprotocol/ui":{"a":1.0},"io.modelcontextprotocol/oauth-client-credentials":{},"com.acme/x":{}}}',
    ),
  ).toBe('{"extensions":{"io.modelcontextprotocol/ui":{"a":1.0},"com.acme/x":{}}}');
});

test("an extensions member that held nothing else goes, one that was empty before stays", () => {
  expect(strip('{"a":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}')).toBe('{"a":{}}');
  expect(strip('{"extensions":{}}')).toBe('{"extensions":{}}');
});
