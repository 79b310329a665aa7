import { describe, expect, it } from "vitest";
import { createDraft } from "../../src/jsonrpc/draft.js";
import { parseObject } from "../../src/jsonrpc/raw-object.js";

describe("a draft without changes", () => {
  it("returns the very text, spaces and duplicates included", () => {
    const text = ' { "a" : 1 ,\n "a":1.0 } ';
    const draft = createDraft(text);
    draft.set("a", "1.0 ".trim());
    draft.remove("b");
    draft.object("a");
    expect(createDraft(text).text()).toBe(text);
    expect(createDraft(parseObject(text)).text()).toBe(text);
  });

  it("stays unchanged by edits that change nothing", () => {
    const text = '{ "a":1, "o": {"x":2} }';
    const draft = createDraft(text);
    draft.set("a", "1");
    draft.remove("missing");
    draft.object("a");
    draft.object("o")?.set("x", "2");
    draft.ensureObject("o").remove("missing");
    expect(draft.changed).toBe(false);
    expect(draft.text()).toBe(text);
  });

  it("of text that is no object is the empty object", () => {
    for (const text of [undefined, "[1]", "null", '"x"'])
      expect(createDraft(text).text()).toBe("{}");
  });
});

describe("set", () => {
  it("puts the value in the member's place and touches nothing else", () => {
    const draft = createDraft('{ "n": 1.10 , "a" : 1,\n"big":9007199254740993 }');
    draft.set("a", '"x"');
    expect(draft.text()).toBe('{"n": 1.10,"a" : "x","big":9007199254740993}');
    expect(draft.changed).toBe(true);
  });

  it("leaves what stands between unchanged neighbours", () => {
    const draft = createDraft('{"a": 1 ,\n\t"b":2 , "c":3,"d":4}');
    draft.remove("d");
    expect(draft.text()).toBe('{"a": 1 ,\n\t"b":2 , "c":3}');
  });

  it("puts a new member behind all others, in the order of the calls", () => {
    const draft = createDraft('{"a":1}');
    draft.set('q"\n', "2");
    draft.set("b", "3");
    expect(draft.text()).toBe('{"a":1,"q\\"\\n":2,"b":3}');
    const empty = createDraft("{ }");
    empty.set("a", "1");
    expect(empty.text()).toBe('{"a":1}');
  });

  it("keeps the key as it is written", () => {
    const draft = createDraft('{"\\u0061" :1}');
    draft.set("a", "2");
    expect(draft.text()).toBe('{"\\u0061" :2}');
  });

  it("leaves one occurrence of a duplicate, in the place of the last", () => {
    const draft = createDraft('{"a":1,"b":2,"a":3,"c":4}');
    draft.set("a", "5");
    expect(draft.text()).toBe('{"b":2,"a":5,"c":4}');
  });

  it("takes earlier duplicates away even when the last has that value already", () => {
    const draft = createDraft('{"method":"evil","method":"good"}');
    draft.set("method", '"good"');
    expect(draft.text()).toBe('{"method":"good"}');
  });
});

describe("remove", () => {
  it("takes every occurrence away", () => {
    const draft = createDraft('{"a":1,"b":2,"a":3}');
    draft.remove("a");
    expect(draft.text()).toBe('{"b":2}');
    expect(draft.get("a")).toBeUndefined();
    draft.remove("b");
    expect(draft.text()).toBe("{}");
  });

  it("can be followed by set, which keeps the place", () => {
    const draft = createDraft('{"a":1,"b":2}');
    draft.remove("a");
    draft.set("a", "3");
    expect(draft.text()).toBe('{"a":3,"b":2}');
  });

  it("takes a member away that was only just set", () => {
    const draft = createDraft('{"a":1}');
    draft.set("b", "2");
    draft.remove("b");
    expect(draft.text()).toBe('{"a":1}');
    expect(draft.keys()).toEqual(["a"]);
  });
});

describe("a nested draft", () => {
  it("changes the outer one, at any depth", () => {
    const draft = createDraft('{"p":{"_meta":{"token":1, "keep": 1.0},"x":2}}');
    const meta = draft.object("p")?.object("_meta");
    expect(draft.changed).toBe(false);
    meta?.set("token", "9");
    expect(draft.changed).toBe(true);
    expect(draft.get("p")).toBe('{"_meta":{"token":9,"keep": 1.0},"x":2}');
    expect(draft.text()).toBe('{"p":{"_meta":{"token":9,"keep": 1.0},"x":2}}');
  });

  it("is the same one each time and may be edited further after text()", () => {
    const draft = createDraft('{"o":{"x":1}}');
    draft.object("o")?.set("x", "2");
    expect(draft.text()).toBe('{"o":{"x":2}}');
    expect(draft.text()).toBe('{"o":{"x":2}}');
    draft.object("o")?.set("y", "3");
    expect(draft.ensureObject("o").get("y")).toBe("3");
    expect(draft.text()).toBe('{"o":{"x":2,"y":3}}');
    draft.object("o")?.remove("x");
    expect(draft.text()).toBe('{"o":{"y":3}}');
  });

  it("is undefined for what is no object", () => {
    const draft = createDraft('{"a":[1],"s":"{"}');
    expect(draft.object("a")).toBeUndefined();
    expect(draft.object("s")).toBeUndefined();
    expect(draft.object("missing")).toBeUndefined();
  });

  it("can be ensured where there is nothing or another value", () => {
    const draft = createDraft('{"a":[1],"b":2}');
    draft.ensureObject("a").ensureObject("deep").set("x", "1");
    expect(draft.ensureObject("new").changed).toBe(false);
    expect(draft.text()).toBe('{"a":{"deep":{"x":1}},"b":2,"new":{}}');
    expect(draft.keys()).toEqual(["a", "b", "new"]);
  });

  it("gives way to a later set or remove, and begins anew after it", () => {
    const draft = createDraft('{"o":{"x":1},"b":2}');
    const before = draft.ensureObject("o");
    before.set("x", "2");
    draft.set("o", '{"z":3}');
    expect(draft.get("o")).toBe('{"z":3}');
    before.set("x", "4");
    expect(draft.text()).toBe('{"o":{"z":3},"b":2}');
    draft.ensureObject("o").set("w", "5");
    expect(draft.text()).toBe('{"o":{"z":3,"w":5},"b":2}');
    draft.remove("o");
    expect(draft.text()).toBe('{"b":2}');
    draft.ensureObject("o").set("v", "6");
    expect(draft.text()).toBe('{"o":{"v":6},"b":2}');
  });

  it("can be set back to what it was", () => {
    const draft = createDraft('{"o":{"x":1}}');
    draft.object("o")?.set("x", "2");
    draft.set("o", '{"x":1}');
    expect(draft.text()).toBe('{"o":{"x":1}}');
  });

  it("is free of duplicates of its member once it is ensured", () => {
    const draft = createDraft('{"_meta":{"x":0},"_meta":{"x":1}}');
    draft.ensureObject("_meta").set("x", "1");
    expect(draft.text()).toBe('{"_meta":{"x":1}}');
  });

  it("edits the last of duplicates and takes the others away", () => {
    const draft = createDraft('{"o":{"x":1},"o":{"y":2}}');
    draft.object("o")?.set("z", "3");
    expect(draft.text()).toBe('{"o":{"y":2,"z":3}}');
  });
});

describe("keys", () => {
  it("come in order, without duplicates and without what was removed", () => {
    const draft = createDraft('{"a":1,"\\u0062":2,"a":3,"__proto__":4}');
    expect(draft.keys()).toEqual(["a", "b", "__proto__"]);
    draft.remove("a");
    draft.set("c", "5");
    expect(draft.keys()).toEqual(["b", "__proto__", "c"]);
  });
});
