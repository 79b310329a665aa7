import { type JsonText, quote } from "./json-text.js";
import { memberOf, type RawObject, readObject } from "./raw-object.js";

/**
 * An object under edit. Members that no call names come out of `text()` as the same characters, in
 * the same order, duplicates included; a draft without changes returns the very text it was made of.
 */
export interface Draft {
  /** The member's current text; of duplicates the last. */
  get(key: string): JsonText | undefined;
  /** Puts a value in the place of the member's last occurrence, or behind all others. */
  set(key: string, value: JsonText): void;
  /** Takes away every occurrence of the member. */
  remove(key: string): void;
  /** The member as a draft of its own whose changes count as this one's; undefined when it is no object. */
  object(key: string): Draft | undefined;
  /** As `object`, but a member that is absent or no object becomes an empty one. */
  ensureObject(key: string): Draft;
  /** All keys in order, without duplicates. */
  keys(): readonly string[];
  readonly changed: boolean;
  text(): JsonText;
}

const REMOVED = Symbol("removed");
type Change = JsonText | typeof REMOVED;

/** Starts an edit of well-formed object text. Text that is no object is edited as an empty one. */
export function createDraft(text: JsonText | undefined): Draft {
  const original: RawObject = readObject(text) ?? { text: "{}", members: [] };
  const changes = new Map<string, Change>();
  const nested = new Map<string, Draft>();

  const current = (key: string): JsonText | undefined => {
    const inner = nested.get(key);
    if (inner?.changed) return inner.text();
    const change = changes.get(key);
    if (change !== undefined) return change === REMOVED ? undefined : change;
    return memberOf(original, key);
  };

  const settle = (): void => {
    for (const [key, inner] of nested) if (inner.changed) changes.set(key, inner.text());
  };

  const put = (key: string, change: Change): void => {
    nested.delete(key);
    changes.set(key, change);
  };

  const nest = (key: string, value: JsonText): Draft => {
    const inner = nested.get(key) ?? createDraft(value);
    nested.set(key, inner);
    return inner;
  };

  return {
    get: current,
    set: (key, value) => {
      // An equal value keeps the draft unchanged, so that nothing is rebuilt for it.
      if (current(key) !== value) put(key, value);
    },
    remove: (key) => {
      if (current(key) !== undefined) put(key, REMOVED);
    },
    object: (key) => {
      const value = current(key);
      return value?.charCodeAt(0) === 0x7b ? nest(key, value) : undefined;
    },
    ensureObject: (key) => {
      const value = current(key);
      if (value?.charCodeAt(0) === 0x7b) return nest(key, value);
      put(key, "{}");
      return nest(key, "{}");
    },
    keys: () => {
      const keys = new Set(original.members.map((member) => member.key));
      for (const [key, change] of changes) change === REMOVED ? keys.delete(key) : keys.add(key);
      return [...keys];
    },
    get changed() {
      if (changes.size > 0) return true;
      for (const inner of nested.values()) if (inner.changed) return true;
      return false;
    },
    text: () => {
      settle();
      return changes.size === 0 ? original.text : render(original, changes);
    },
  };
}

function render(original: RawObject, changes: ReadonlyMap<string, Change>): JsonText {
  const lastIndex = new Map<string, number>();
  original.members.forEach((member, index) => {
    if (changes.has(member.key)) lastIndex.set(member.key, index);
  });
  let out = "{";
  const append = (part: string): void => {
    out += out.length > 1 ? `,${part}` : part;
  };
  original.members.forEach((member, index) => {
    const change = changes.get(member.key);
    if (change === undefined) append(original.text.slice(member.keyStart, member.end));
    // Earlier duplicates of an edited member go, or a reader that takes the first would see them.
    else if (change !== REMOVED && lastIndex.get(member.key) === index) {
      append(original.text.slice(member.keyStart, member.start) + change);
    }
  });
  for (const [key, change] of changes) {
    if (change !== REMOVED && !lastIndex.has(key)) append(`${quote(key)}:${change}`);
  }
  return `${out}}`;
}
