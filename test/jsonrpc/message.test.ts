import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { callText, errorText, parseMessage, resultText } from "../../src/jsonrpc/message.js";

describe("a message", () => {
  it("with a method and an id is a request", () => {
    expect(
      parseMessage('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1.0}}'),
    ).toMatchObject({
      type: "request",
      id: "1",
      method: "ping",
      params: '{"a":1.0}',
    });
  });

  it("with a method and no id is a notification", () => {
    expect(parseMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toMatchObject({
      type: "notification",
      method: "notifications/initialized",
      params: undefined,
    });
  });

  it("with a result is a response, whatever value the result has", () => {
    for (const result of ["{}", "null", '"x"', "[1]", '{ "big": 9007199254740993 }']) {
      expect(parseMessage(`{"jsonrpc":"2.0","id":1,"result":${result}}`)).toMatchObject({
        type: "response",
        id: "1",
        result,
      });
    }
  });

  it("with an error is an error, whose id may be null or absent", () => {
    const error = '{"code":-32700,"message":"x"}';
    expect(parseMessage(`{"jsonrpc":"2.0","id":"a","error":${error}}`)).toMatchObject({
      type: "error",
      id: '"a"',
      error,
    });
    expect(parseMessage(`{"jsonrpc":"2.0","id":null,"error":${error}}`)).toMatchObject({
      type: "error",
      id: undefined,
    });
    expect(parseMessage(`{"jsonrpc":"2.0","error":${error}}`)).toMatchObject({ id: undefined });
  });

  it("may have spaces and line breaks around and within it", () => {
    const text = '\r\n { "jsonrpc" : "2.0" ,\n"id" : 1 , "method" : "ping" } \n';
    expect(parseMessage(text)).toMatchObject({ type: "request", id: "1", method: "ping" });
  });

  it("may be written with escapes", () => {
    const text = '{"jsonrp\\u0063":"2\\u002e0","\\u0069d":1,"method":"tools\\/call"}';
    expect(parseMessage(text)).toMatchObject({ type: "request", id: "1", method: "tools/call" });
  });

  it("is read by the last of duplicates", () => {
    const text = '{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}';
    expect(parseMessage(text)).toMatchObject({ type: "request", id: "2", method: "b" });
  });

  it("keeps unknown members", () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"ping","x-trace":[1,{"a":2}]}';
    const message = parseMessage(text);
    expect(message.type === "request" && message.raw.text).toBe(text);
  });
});

describe("a request id", () => {
  const longest = `"${"i".repeat(200)}"`;
  it.each([
    "0",
    "1",
    "-1",
    "1.5",
    "1.0",
    "1e3",
    "9007199254740992",
    "9007199254740993",
    '""',
    '"0"',
  ])("%s comes out with the same type and characters", (id) => {
    expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({ id });
    expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"result":{}}`)).toMatchObject({ id });
  });

  it.each([longest, '"\\ud83d"', '"\\u0031 狐 \\"x\\""'])("%s also does", (id) => {
    expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({ id });
  });

  it.each(["null", "true", "[1]", "{}"])("is not %s", (id) => {
    expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toEqual({
      type: "malformed",
      id: undefined,
      code: -32600,
      reason: "id must be a string or a number",
    });
    expect(parseMessage(`{"jsonrpc":"2.0","id":${id},"result":{}}`)).toMatchObject({
      type: "malformed",
      id: undefined,
      code: -32600,
    });
  });

  it("that is kept does not keep the message it came in", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    const kept: unknown[] = [];
    for (let i = 0; i < 40; i++) {
      const filling = "x".repeat(1_000_000);
      const text = `{"id":"4f8c2a1e-77aa-4b0c-9d3e-0000000${i}","jsonrpc":"2.0","method":"ping","params":{"a":"${filling}"}}`;
      const message = parseMessage(text);
      if (message.type === "request") kept.push(message.id);
    }
    expect(kept).toHaveLength(40);
    expect(used() - before).toBeLessThan(10_000_000);
  });
});

describe("text that is no message", () => {
  it.each(["", "{", "Server listening on 3000", '{"jsonrpc":"2.0",}', "\ufeff{}", "{}{}"])(
    "and no JSON is a parse error: %j",
    (text) => {
      expect(parseMessage(text)).toMatchObject({ type: "malformed", id: undefined, code: -32700 });
    },
  );

  it("tells where the parse error is", () => {
    expect(parseMessage('{"jsonrpc" "2.0"}')).toMatchObject({
      reason: "expected : at character 11",
    });
  });

  it.each([
    ["123", "a message must be an object"],
    ["null", "a message must be an object"],
    ['"x"', "a message must be an object"],
    ["[]", "an empty array"],
    [" [ ] ", "an empty array"],
    ["{}", 'jsonrpc must be "2.0"'],
    ['{"id":1,"method":"ping"}', 'jsonrpc must be "2.0"'],
    ['{"jsonrpc":2.0,"id":1,"method":"ping"}', 'jsonrpc must be "2.0"'],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'jsonrpc must be "2.0"'],
    ['{"jsonrpc":"2.0","id":1}', "neither method, result nor error"],
    ['{"jsonrpc":"2.0","id":1,"method":7}', "method must be a string"],
    ['{"jsonrpc":"2.0","id":1,"method":null}', "method must be a string"],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":null}', "params must be an object"],
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', "params must be an object"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', "both result and error"],
    ['{"jsonrpc":"2.0","id":1,"error":"x"}', "error must be an object"],
    ['{"jsonrpc":"2.0","result":{}}', "a result needs the id of its request"],
  ])("is an invalid request: %s", (text, reason) => {
    const id = text.includes('"id":1') ? "1" : undefined;
    expect(parseMessage(text)).toEqual({ type: "malformed", id, code: -32600, reason });
  });

  it("may be a call with params in an array, which no method here has", () => {
    expect(parseMessage('{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}')).toEqual({
      type: "malformed",
      id: "1",
      code: -32602,
      reason: "params must be an object",
    });
  });

  it("may be nested too deep or have too many members, anywhere", () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":${"[".repeat(300)}${"]".repeat(300)}}}`;
    expect(parseMessage(deep)).toMatchObject({ type: "malformed", code: -32700 });
    const members = Array.from({ length: 1_000_001 }, () => '"":0').join(",");
    const wide = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{${members}}}}`;
    expect(parseMessage(wide)).toMatchObject({ type: "malformed", code: -32700 });
  });
});

describe("an array", () => {
  it("is a batch of texts that are not read yet", () => {
    const first = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    expect(parseMessage(` [ ${first} , 1,\n{"a":[2]}] `)).toEqual({
      type: "batch",
      elements: [first, "1", '{"a":[2]}'],
    });
  });

  it("may have a thousand elements and no more", () => {
    const ones = (count: number): string =>
      `[${Array.from({ length: count }, () => "1").join(",")}]`;
    expect(parseMessage(ones(1_000))).toMatchObject({ type: "batch" });
    expect(parseMessage(ones(1_001))).toMatchObject({ type: "malformed", code: -32600 });
  });
});

describe("a written message", () => {
  it("reads back as what it was", () => {
    const call = callText('"a"', 'x"y\n', '{"a":1.0}');
    expect(call).toBe('{"jsonrpc":"2.0","id":"a","method":"x\\"y\\n","params":{"a":1.0}}');
    expect(parseMessage(call)).toMatchObject({ type: "request", id: '"a"', method: 'x"y\n' });
    expect(callText(undefined, "a", undefined)).toBe('{"jsonrpc":"2.0","method":"a"}');
    expect(resultText("0", "{}")).toBe('{"jsonrpc":"2.0","id":0,"result":{}}');
    expect(errorText(undefined, '{"code":-32700,"message":""}')).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}',
    );
  });
});
