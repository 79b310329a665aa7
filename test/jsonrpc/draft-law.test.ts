import fc from "fast-check";
import { expect, it } from "vitest";
import { createDraft, type Draft } from "../../src/jsonrpc/draft.js";
import { readObject } from "../../src/jsonrpc/raw-object.js";
import { type JsonNode, jsonNode, jsonObjectNode, memberKey } from "../support/arbitraries.js";

/**
 * The law of editing in place, held against a plain model: a tree of member texts on which every
 * edit is carried out the slow and obvious way.
 */

interface Edit {
  readonly path: readonly string[];
  readonly act: "set" | "remove" | "read";
  readonly key: string;
  readonly value: JsonNode;
}

const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.record({
    path: fc.array(memberKey, { maxLength: 2 }),
    act: fc.constantFrom("set", "set", "remove", "read"),
    key: memberKey,
    value: jsonNode,
  }),
  { maxLength: 6 },
);

/** A member with the exact characters it must have, or with members of its own that must. */
interface Slot {
  readonly key: string;
  readonly prefix: string;
  /** Undefined when it is removed: it keeps its place in case it is set again. */
  value: JsonNode | Model | undefined;
}
type Model = Slot[];

const present = (model: Model): Model => model.filter(({ value }) => value !== undefined);

const toModel = (node: JsonNode): Model =>
  (node.members ?? []).map(({ key, prefix, value }) => ({ key, prefix, value }));

function put(model: Model, key: string, value: Slot["value"]): void {
  const slot = model.findLast((one) => one.key === key);
  const kept = slot ?? { key, prefix: `${JSON.stringify(key)}:`, value };
  kept.value = value;
  const rest = model.filter((one) => one.key !== key || one === slot);
  model.splice(0, model.length, ...(slot === undefined ? [...rest, kept] : rest));
}

/** The members at the path, each step made an object where it is none. */
function ensure(model: Model, path: readonly string[]): Model {
  return path.reduce((here, key) => {
    const value = here.findLast((slot) => slot.key === key)?.value;
    const inner = Array.isArray(value) ? value : value?.members && toModel(value);
    put(here, key, inner ?? []);
    return inner ?? ensure(here, [key]);
  }, model);
}

function applyToModel(model: Model, { path, act, key, value }: Edit): void {
  if (act === "read") return;
  const here = ensure(model, path);
  if (act === "set") put(here, key, value);
  else if (here.some((slot) => slot.key === key)) put(here, key, undefined);
}

function applyToDraft(draft: Draft, { path, act, key, value }: Edit): void {
  if (act === "read") {
    draft.object(path[0] ?? key)?.get(key);
    draft.get(key);
    draft.keys();
    draft.text();
    return;
  }
  const here = path.reduce((at, step) => at.ensureObject(step), draft);
  if (act === "set") here.set(key, value.text);
  else here.remove(key);
}

/** Each member of the text has the characters that the model says, in its order. */
function expectModel(text: string, model: Model): void {
  const found = readObject(text)?.members.map((member) => ({
    prefix: text.slice(member.keyStart, member.start),
    value: text.slice(member.start, member.end),
  }));
  const wanted = present(model);
  expect(found?.map(({ prefix }) => prefix)).toEqual(wanted.map(({ prefix }) => prefix));
  wanted.forEach(({ value }, index) => {
    const actual = found?.[index]?.value ?? "";
    if (Array.isArray(value)) expectModel(actual, value);
    else expect(actual).toBe(value?.text);
  });
}

function toValue(value: Slot["value"]): unknown {
  if (!Array.isArray(value)) return JSON.parse(value?.text ?? "");
  return Object.fromEntries(present(value).map((slot) => [slot.key, toValue(slot.value)]));
}

it("members that no edit names keep their characters and their order, and edits mean what they say", () => {
  fc.assert(
    fc.property(jsonObjectNode, edits, (node, list) => {
      const model = toModel(node);
      const draft = createDraft(node.text);
      for (const edit of list) {
        applyToModel(model, edit);
        applyToDraft(draft, edit);
      }
      const text = draft.text();
      expectModel(text, model);
      expect(JSON.parse(text)).toEqual(toValue(model));
      expect(new Set(draft.keys())).toEqual(new Set(present(model).map(({ key }) => key)));
      for (const key of draft.keys()) {
        expect(JSON.parse(draft.get(key) ?? "")).toEqual(JSON.parse(text)[key]);
      }
    }),
    { numRuns: 2_000 },
  );
});

it("a draft that is only read returns the very text", () => {
  fc.assert(
    fc.property(jsonObjectNode, edits, (node, list) => {
      const draft = createDraft(node.text);
      for (const edit of list) applyToDraft(draft, { ...edit, act: "read" });
      expect(draft.changed).toBe(false);
      expect(draft.text()).toBe(node.text);
    }),
  );
});
