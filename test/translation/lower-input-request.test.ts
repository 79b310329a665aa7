import { describe, expect, test } from "vitest";
import type { LegacyRevision } from "../../src/model/era.js";
import type { InputMethod } from "../../src/model/input-request.js";
import { lowerInputRequest } from "../../src/translation/lower-input-request.js";

const lower = (method: InputMethod, params: string | undefined, revision: LegacyRevision) =>
  lowerInputRequest({ key: "k\u00e9y", method, params }, { revision, elicitationId: "e-1" });
const META = '"_meta":{"io.erabridge/input-key":"k\u00e9y"}';

describe("a question for a client of 2025-11-25", () => {
  test("keeps its characters and carries its key", () => {
    const form =
      '"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.0}}}';
    expect(lower("elicitation/create", `{"mode":"form",${form}}`, "2025-11-25")).toEqual({
      type: "lowered",
      params: `{"mode":"form",${form},${META}}`,
    });
  });

  test("has an elicitation id in URL mode only", () => {
    expect(
      lower("elicitation/create", '{"mode":"url","url":"https://x.invalid"}', "2025-11-25"),
    ).toEqual({
      type: "lowered",
      params: `{"mode":"url","url":"https://x.invalid","elicitationId":"e-1",${META}}`,
    });
  });

  test("keeps the _meta the server gave it", () => {
    expect(lower("roots/list", '{"_meta":{"a":1.0}}', "2025-11-25")).toEqual({
      type: "lowered",
      params: '{"_meta":{"a":1.0,"io.erabridge/input-key":"k\u00e9y"}}',
    });
  });

  test("needs no params", () => {
    expect(lower("roots/list", undefined, "2024-11-05")).toEqual({
      type: "lowered",
      params: `{${META}}`,
    });
  });
});

describe("a question for an older client", () => {
  test("loses the mode and has choices in the old form", () => {
    expect(
      lower(
        "elicitation/create",
        '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"c":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"a"},"b":{"type":"boolean","default":true}}}}',
        "2025-06-18",
      ),
    ).toEqual({
      type: "lowered",
      params: `{"message":"m","requestedSchema":{"type":"object","properties":{"c":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"b":{"type":"boolean","default":true}}},${META}}`,
    });
  });

  test("cannot ask for several values of one field", () => {
    expect(
      lower(
        "elicitation/create",
        '{"requestedSchema":{"properties":{"tags":{"type":"array","items":{"enum":["a"]}}}}}',
        "2025-06-18",
      ),
    ).toEqual({
      type: "inexpressible",
      reason: "the field tags takes several values, which this client cannot show",
    });
  });

  test("has one message for each content block", () => {
    expect(
      lower(
        "sampling/createMessage",
        '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":{"type":"text","text":"c"}}],"maxTokens":5}',
        "2025-06-18",
      ),
    ).toEqual({
      type: "lowered",
      params: `{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"b"}},{"role":"assistant","content":{"type":"text","text":"c"}}],"maxTokens":5,${META}}`,
    });
  });

  test("reads about a sound it cannot play", () => {
    expect(
      lower(
        "sampling/createMessage",
        '{"messages":[{"role":"user","content":{"type":"audio","data":"AAAA","mimeType":"audio/wav"}}]}',
        "2024-11-05",
      ),
    ).toEqual({
      type: "lowered",
      params: `{"messages":[{"role":"user","content":{"type":"text","text":"[audio, audio/wav, 3 bytes]"}}],${META}}`,
    });
  });
});
