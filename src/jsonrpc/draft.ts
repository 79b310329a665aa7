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
  return openDraft(typeof source === "object" ? source : readObject(source), () => {});
}

function openDraft(source: RawObject | undefined, onChange: () => void): Draft {
  const original = source ?? EMPTY;
  const changes = new Map<string, Change>();
  const nested = new Map<string, Draft>();

  const changeOf = (key: string): Change | undefined => {
    const inner = nested.get(key);
    return inner?.changed ? inner.text() : changes.get(key);
  };

  const current = (key: string): JsonText | undefined => {
    const change = changeOf(key);
    if (change !== undefined) return change === REMOVED ? undefined : change;
    return memberOf(original, key);
  };

  /** Whether earlier duplicates still stand beside the member: an edit of it takes them away. */
  const hasRivals = (key: string): boolean =>
    !changes.has(key) && !nested.get(key)?.changed && isRepeated(original, key);

  const touch = (): void => {
    draft.changed = true;
    onChange();
  };

  const put = (key: string, change: Change): void => {
    nested.delete(key);
    changes.set(key, change);
    touch();
  };

  const nest = (key: string, value: JsonText): Draft => {
    const inner = nested.get(key) ?? openDraft(readObject(value), touch);
    nested.set(key, inner);
    return inner;
  };

  // `changed` is a plain property: an accessor would cost more than the rest of a small edit.
  const draft: Draft & { changed: boolean } = {
    changed: false,
    get: current,
    set: (key, value) => {
      // An equal value keeps the draft unchanged, so that nothing is rebuilt for it.
      if (current(key) !== value || hasRivals(key)) put(key, value);
    },
    remove: (key) => {
      if (current(key) !== undefined) put(key, REMOVED);
    },
    object: (key) => {
      const value = current(key);
      return isObjectText(value) ? nest(key, value) : undefined;
    },
    ensureObject: (key) => {
      const value = current(key);
      const wanted = isObjectText(value) ? value : "{}";
      if (wanted !== value || hasRivals(key)) put(key, wanted);
      return nest(key, wanted);
    },
    keys: () => {
      const keys = new Set(original.members.map((member) => member.key));
      for (const [key, change] of changes) change === REMOVED ? keys.delete(key) : keys.add(key);
      return [...keys];
    },
    text: () => {
      if (!draft.changed) return original.text;
      let out = renderMembers(original, changeOf);
      for (const key of changes.keys()) {
        const change = hasMember(original, key) ? REMOVED : changeOf(key);
        if (change !== undefined && change !== REMOVED) out = join(out, `${quote(key)}:${change}`);
      }
      return `{${out}}`;
    },
  };
  return draft;
}

function isRepeated(object: RawObject, key: string): boolean {
  let count = 0;
  for (const member of object.members) if (member.key === key) count++;
  return count > 1;
}

function hasMember(object: RawObject, key: string): boolean {
  return object.members.some((member) => member.key === key);
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
function renderMembers(original: RawObject, changeOf: (key: string) => Change | undefined): string {
  const { text, members } = original;
  let out = "";
  let runStart = -1;
  let runEnd = -1;
  for (let i = 0; i < members.length; i++) {
    const member = members[i];
    if (member === undefined) continue;
    const change = changeOf(member.key);
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
