import { isObjectText, type JsonText, quote } from "./json-text.js";
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
  /** All keys without duplicates, in the order in which the original first has them. */
  keys(): readonly string[];
  readonly changed: boolean;
  text(): JsonText;
}

const REMOVED = Symbol("removed");
type Change = JsonText | typeof REMOVED;

const EMPTY: RawObject = { text: "{}", members: [] };

/**
 * Starts an edit of well-formed object text, or of one already read. Text that is no object is
 * edited as an empty one. A draft got by `object` or `ensureObject` is let go when its member is
 * set or removed afterwards: what it is told then no longer counts.
 */
export function createDraft(source: JsonText | RawObject | undefined): Draft {
  return openDraft(typeof source === "object" ? source : readObject(source), undefined);
}

/** A draft and what it was made of. */
interface Editing extends Draft {
  changed: boolean;
  readonly original: RawObject;
  /** The draft this one is a member of. */
  readonly outer: Editing | undefined;
  // Most drafts need one of the two or none.
  changes: Map<string, Change> | undefined;
  nested: Map<string, Editing> | undefined;
}

// All drafts share these functions: several are made for every message, and closures would be most of
// what they cost.

function openDraft(source: RawObject | undefined, outer: Editing | undefined): Editing {
  return {
    original: source ?? EMPTY,
    outer,
    changes: undefined,
    nested: undefined,
    changed: false,
    get,
    set,
    remove,
    object,
    ensureObject,
    keys,
    text,
  };
}

function get(this: Editing, key: string): JsonText | undefined {
  return current(this, key);
}

function set(this: Editing, key: string, value: JsonText): void {
  // An equal value keeps the draft unchanged, so that nothing is rebuilt for it.
  if (current(this, key) !== value || hasRivals(this, key)) put(this, key, value);
}

function remove(this: Editing, key: string): void {
  if (isPresent(this, key)) put(this, key, REMOVED);
}

function object(this: Editing, key: string): Draft | undefined {
  const known = this.nested?.get(key);
  if (known !== undefined) return known;
  const value = current(this, key);
  return isObjectText(value) ? nest(this, key, value) : undefined;
}

function ensureObject(this: Editing, key: string): Draft {
  const known = this.nested?.get(key);
  if (known !== undefined && !hasRivals(this, key)) return known;
  const value = current(this, key);
  const wanted = isObjectText(value) ? value : "{}";
  if (wanted !== value || hasRivals(this, key)) put(this, key, wanted);
  return nest(this, key, wanted);
}

function keys(this: Editing): readonly string[] {
  const found = new Set<string>();
  for (const { key } of this.original.members) found.add(key);
  if (this.changes !== undefined) {
    for (const [key, change] of this.changes) {
      if (change === REMOVED) found.delete(key);
      else found.add(key);
    }
  }
  return [...found];
}

function text(this: Editing): JsonText {
  const { original, changes } = this;
  if (!this.changed) return original.text;
  let out = renderMembers(this);
  if (changes !== undefined) {
    for (const key of changes.keys()) {
      const change = hasMember(original, key) ? REMOVED : changeOf(this, key);
      if (change !== undefined && change !== REMOVED) out = join(out, `${quote(key)}:${change}`);
    }
  }
  return `{${out}}`;
}

function changeOf({ nested, changes }: Editing, key: string): Change | undefined {
  const inner = nested?.get(key);
  return inner?.changed ? inner.text() : changes?.get(key);
}

function current(draft: Editing, key: string): JsonText | undefined {
  const change = changeOf(draft, key);
  if (change !== undefined) return change === REMOVED ? undefined : change;
  return memberOf(draft.original, key);
}

function isPresent({ nested, changes, original }: Editing, key: string): boolean {
  if (nested?.has(key)) return true;
  const change = changes?.get(key);
  return change === undefined ? hasMember(original, key) : change !== REMOVED;
}

/** Whether earlier duplicates still stand beside the member: an edit of it takes them away. */
function hasRivals({ nested, changes, original }: Editing, key: string): boolean {
  return !changes?.has(key) && !nested?.get(key)?.changed && isRepeated(original, key);
}

function put(draft: Editing, key: string, change: Change): void {
  draft.nested?.delete(key);
  draft.changes ??= new Map();
  draft.changes.set(key, change);
  for (let at: Editing | undefined = draft; at !== undefined; at = at.outer) at.changed = true;
}

function nest(draft: Editing, key: string, value: JsonText): Editing {
  const inner = openDraft(readObject(value), draft);
  draft.nested ??= new Map();
  draft.nested.set(key, inner);
  return inner;
}

function isRepeated(object: RawObject, key: string): boolean {
  let count = 0;
  for (const member of object.members) if (member.key === key) count++;
  return count > 1;
}

function hasMember(object: RawObject, key: string): boolean {
  for (const member of object.members) if (member.key === key) return true;
  return false;
}

/**
 * Of an edited member the last occurrence carries the value and earlier ones go: a reader that
 * takes the first must not see what was there before.
 */
function isLast(members: RawObject["members"], index: number): boolean {
  const key = members[index]?.key;
  for (let i = index + 1; i < members.length; i++) if (members[i]?.key === key) return false;
  return true;
}

/** The members' texts and what stands between unchanged neighbours, without the braces. */
function renderMembers(draft: Editing): string {
  const { text, members } = draft.original;
  let out = "";
  let runStart = -1;
  let runEnd = -1;
  for (let i = 0; i < members.length; i++) {
    const member = members[i];
    if (member === undefined) continue;
    const change = changeOf(draft, member.key);
    if (change === undefined) {
      if (runStart === -1) runStart = member.keyStart;
      runEnd = member.end;
      continue;
    }
    if (runStart !== -1) out = join(out, text.slice(runStart, runEnd));
    runStart = -1;
    if (change === REMOVED || !isLast(members, i)) continue;
    out = join(out, text.slice(member.keyStart, member.start) + change);
  }
  return runStart === -1 ? out : join(out, text.slice(runStart, runEnd));
}

function join(before: string, member: string): string {
  return before === "" ? member : `${before},${member}`;
}
