import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import type { Caller } from "../model/caller.js";
import { normalizeCapabilities } from "../translation/capabilities.js";

/** Texts remembered per table, and how long one may be: clients send the same few over and over. */
const MAX_REMEMBERED = 1_000;
const MAX_REMEMBERED_LENGTH = 4_096;

function remembering(derive: (text: JsonText) => string): (text: JsonText) => string {
  const known = new Map<JsonText, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const derived = derive(text);
    if (text.length > MAX_REMEMBERED_LENGTH) return derived;
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(text, derived);
    return derived;
  };
}

function softwareOf(identity: JsonText): string {
  const info = readObject(identity);
  const name = asString(memberOf(info, "name")) ?? "";
  return `${quote(name)}${quote(asString(memberOf(info, "version")) ?? "")}`;
}

function isSame(left: Caller, right: Caller): boolean {
  return (
    left.principal === right.principal &&
    left.affinity === right.affinity &&
    left.capabilities === right.capabilities &&
    left.identity === right.identity
  );
}

export interface SessionKeys {
  /** Equal for callers that may use the same upstream session. */
  keyOf(caller: Caller): string;
  /** Equal for requests of one client, whatever it can do. */
  clientOf(caller: Caller): string;
}

/**
 * Which upstream session serves a caller: principal, what the client can do (a legacy server is told
 * once, at `initialize`), which software it is, and which conversation where the host says so. Each
 * part is quoted, so that no two different callers make the same key.
 */
export function createSessionKeys(): SessionKeys {
  const capabilitiesOf = remembering(normalizeCapabilities);
  const nameOf = remembering(softwareOf);
  const clientOf = ({ principal, identity, affinity }: Caller): string => {
    const software = identity === undefined ? "-" : nameOf(identity);
    return `${quote(principal)}${software}${affinity === undefined ? "-" : quote(affinity)}`;
  };
  // Requests mostly come from whoever sent the last one.
  let last: Caller | undefined;
  let lastKey = "";
  return {
    clientOf,
    keyOf(caller) {
      if (last === undefined || !isSame(last, caller)) {
        lastKey = `${clientOf(caller)}${capabilitiesOf(caller.capabilities)}`;
        last = { ...caller, authorization: undefined };
      }
      return lastKey;
    },
  };
}
