import { describe, expect, test } from "vitest";
import { inputResponseProblem, liftReverseRequest } from "../../src/translation/input-requests.js";
import { covers, requiredCapability } from "../../src/translation/lower.js";

describe("a reverse request as an input request", () => {
  test("loses task, elicitationId and the tokens of the hop, keeps the rest", () => {
    expect(
      liftReverseRequest(
        "elicitation/create",
        '{"mode":"url","url":"https://a","elicitationId":"e","task":{"ttl":1},"zzz":1.0,"_meta":{"progressToken":3,"a":1}}',
      ),
    ).toEqual({
      params: '{"mode":"url","url":"https://a","zzz":1.0,"_meta":{"a":1}}',
      key: undefined,
    });
  });

  test("names the key its server asks for", () => {
    expect(
      liftReverseRequest(
        "sampling/createMessage",
        '{"_meta":{"io.erabridge/input-key":"ask"},"maxTokens":1}',
      ),
    ).toEqual({ params: '{"maxTokens":1}', key: "ask" });
  });

  test("for roots always has params", () => {
    expect(liftReverseRequest("roots/list", undefined)).toEqual({ params: "{}", key: undefined });
  });
});

describe("an answer's shape", () => {
  test.each([
    ["elicitation/create", '{"action":"accept","content":{"a":1}}'],
    ["elicitation/create", '{"action":"decline"}'],
    ["elicitation/create", '{"action":"cancel"}'],
    [
      "sampling/createMessage",
      '{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}',
    ],
    ["sampling/createMessage", '{"role":"assistant","model":"m","content":[]}'],
    ["roots/list", '{"roots":[]}'],
  ] as const)("%s accepts %s", (method, answer) => {
    expect(inputResponseProblem(method, answer)).toBeUndefined();
  });

  test.each([
    ["elicitation/create", "12345"],
    ["elicitation/create", "null"],
    ["elicitation/create", '{"action":"maybe"}'],
    ["elicitation/create", '{"action":"accept","content":[]}'],
    ["elicitation/create", '{"method":"elicitation/create","result":{"action":"accept"}}'],
    ["sampling/createMessage", '{"role":"assistant","content":{"type":"text"}}'],
    ["sampling/createMessage", '{"model":"m","content":{"type":"text"}}'],
    ["roots/list", '{"roots":{}}'],
  ] as const)("%s refuses %s", (method, answer) => {
    expect(inputResponseProblem(method, answer)).toEqual(expect.any(String));
  });
});

describe("declared capabilities", () => {
  test.each([
    ["{}", "elicitation/create", "{}", false],
    ['{"elicitation":{}}', "elicitation/create", "{}", true],
    ['{"elicitation":{}}', "elicitation/create", '{"mode":"form"}', true],
    ['{"elicitation":{}}', "elicitation/create", '{"mode":"url"}', false],
    ['{"elicitation":{"url":{}}}', "elicitation/create", '{"mode":"form"}', false],
    ['{"elicitation":{"url":{}}}', "elicitation/create", '{"mode":"url"}', true],
    ['{"elicitation":{"form":{},"url":{}}}', "elicitation/create", "{}", true],
    ['{"sampling":{}}', "sampling/createMessage", "{}", true],
    ['{"sampling":{}}', "sampling/createMessage", '{"tools":[]}', false],
    ['{"sampling":{"tools":{}}}', "sampling/createMessage", '{"tools":[]}', true],
    ['{"roots":{}}', "roots/list", "{}", true],
    ['{"sampling":{}}', "roots/list", "{}", false],
  ] as const)("%s for %s %s: %s", (capabilities, method, params, expected) => {
    expect(covers(capabilities, method, params)).toBe(expected);
  });

  test("the missing one is named", () => {
    expect(requiredCapability("elicitation/create", '{"mode":"url"}')).toBe(
      '{"elicitation":{"url":{}}}',
    );
    expect(requiredCapability("sampling/createMessage", '{"tools":[]}')).toBe(
      '{"sampling":{"tools":{}}}',
    );
    expect(requiredCapability("roots/list", undefined)).toBe('{"roots":{}}');
  });
});
