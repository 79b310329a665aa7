import { INVALID_PARAMS } from "../../jsonrpc/error-codes.js";
import { asString, isObjectText, type JsonText } from "../../jsonrpc/json-text.js";
import { memberOf, type RawObject, readObject } from "../../jsonrpc/raw-object.js";
import { isModernRevision, MODERN_REVISIONS } from "../../model/era.js";
import { isLogLevel, type LogLevel } from "../../model/log-level.js";
import {
  ENVELOPE_KEYS,
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SESSION,
} from "../../model/meta-keys.js";
import type { Failed } from "../../model/operation.js";
import { UNSUPPORTED_PROTOCOL_VERSION, wireError } from "../../model/wire-error.js";

/** What a modern request says of itself in `_meta` (2026-07-28/basic, "_meta"). */
export interface Envelope {
  readonly revision: string;
  /** The `clientInfo` object. */
  readonly identity: JsonText | undefined;
  /** The `clientCapabilities` object. */
  readonly capabilities: JsonText;
  readonly logLevel: LogLevel | undefined;
  /** The text of the token, a string or a number. */
  readonly progressToken: JsonText | undefined;
  readonly affinity: string | undefined;
}

/**
 * Longest `clientCapabilities` and `clientInfo`, in characters: tables are keyed by them. Icons in a
 * client's identity come as data URLs of some kilobytes.
 */
const MAX_DECLARATION_CHARACTERS = 65_536;
/** Longest affinity value, in characters. */
export const MAX_AFFINITY_CHARACTERS = 256;

/** The params of a message and their `_meta`, read once for all who look into them. */
export interface MetaSpans {
  readonly params: RawObject | undefined;
  readonly meta: RawObject | undefined;
}

/** `params` must be well-formed; anything but an object reads as absent. */
export function readMeta(params: JsonText | undefined): MetaSpans {
  const object = readObject(params);
  return { params: object, meta: readObject(memberOf(object, "_meta")) };
}

/** Does `_meta` carry any key of the envelope? One is enough: a half envelope is a fault, not legacy. */
export function hasEnvelope(meta: RawObject | undefined): boolean {
  if (meta === undefined) return false;
  for (const { key } of meta.members) if (ENVELOPE_KEYS.includes(key)) return true;
  return false;
}

/** Reads and validates the envelope. A fault is -32602 and names the keys in `data`. */
export function readEnvelope(meta: RawObject | undefined): Envelope | Failed {
  const revision = asString(memberOf(meta, META_PROTOCOL_VERSION));
  const capabilities = memberOf(meta, META_CLIENT_CAPABILITIES);
  const identity = memberOf(meta, META_CLIENT_INFO);
  const level = memberOf(meta, META_LOG_LEVEL);
  const logLevel = asString(level);
  const progressToken = memberOf(meta, "progressToken");
  const affinity = memberOf(meta, META_SESSION);
  if (
    revision === undefined ||
    !isDeclaration(capabilities) ||
    (identity !== undefined && !isDeclaration(identity)) ||
    (level !== undefined && !isLogLevel(logLevel)) ||
    (progressToken !== undefined && !isToken(progressToken)) ||
    (affinity !== undefined && !isAffinity(affinity))
  ) {
    return envelopeFault(meta);
  }
  return {
    revision,
    identity,
    capabilities,
    logLevel: isLogLevel(logLevel) ? logLevel : undefined,
    progressToken,
    affinity: asString(affinity),
  };
}

function isDeclaration(text: JsonText | undefined): text is JsonText {
  return isObjectText(text) && text.length <= MAX_DECLARATION_CHARACTERS;
}

function isAffinity(text: JsonText): boolean {
  return asString(text) !== undefined && text.length <= MAX_AFFINITY_CHARACTERS + 2;
}

function isToken(text: JsonText): boolean {
  const c = text.charCodeAt(0);
  return c === 0x22 || c === 0x2d || (c >= 0x30 && c <= 0x39);
}

function envelopeFault(meta: RawObject | undefined): Failed {
  const missing: string[] = [];
  const invalid: string[] = [];
  const judge = (key: string, required: boolean, isValid: (text: JsonText) => boolean): void => {
    const text = memberOf(meta, key);
    if (text === undefined) {
      if (required) missing.push(key);
    } else if (!isValid(text)) invalid.push(key);
  };
  judge(META_PROTOCOL_VERSION, true, (text) => asString(text) !== undefined);
  judge(META_CLIENT_CAPABILITIES, true, isDeclaration);
  judge(META_CLIENT_INFO, false, isDeclaration);
  judge(META_LOG_LEVEL, false, (text) => isLogLevel(asString(text)));
  judge("progressToken", false, isToken);
  judge(META_SESSION, false, isAffinity);
  const parts = [
    ...(missing.length > 0 ? [`missing ${missing.join(", ")}`] : []),
    ...(invalid.length > 0 ? [`invalid ${invalid.join(", ")}`] : []),
  ];
  const data = {
    ...(missing.length > 0 ? { missing } : {}),
    ...(invalid.length > 0 ? { invalid } : {}),
  };
  return refused(INVALID_PARAMS, `params._meta: ${parts.join("; ")}`, data);
}

/**
 * Refuses a revision this era does not have, listing what the endpoint speaks
 * (2026-07-28/basic/versioning, "Protocol Version Negotiation").
 */
export function revisionFault(revision: string, supported: readonly string[]): Failed | undefined {
  if (isModernRevision(revision)) return undefined;
  return unsupportedRevision(revision, supported);
}

export function unsupportedRevision(requested: unknown, supported: readonly string[]): Failed {
  const message = `Unsupported protocol version; this server speaks ${supported.join(", ")}`;
  return refused(UNSUPPORTED_PROTOCOL_VERSION, message, { supported, requested });
}

/** A request that is at fault itself. */
export function refused(code: number, message: string, data?: unknown): Failed {
  return { type: "failed", error: wireError(code, message, data), cause: "refused" };
}

/** What to write under `_meta` of a modern request. Values are texts; absent ones are left out. */
export interface EnvelopeTexts {
  readonly capabilities: JsonText;
  readonly identity: JsonText | undefined;
  readonly logLevel: LogLevel | undefined;
}

/** The members of the envelope in the newest revision, as `_meta` members to set. */
export function envelopeMembers(texts: EnvelopeTexts): readonly (readonly [string, JsonText])[] {
  const members: [string, JsonText][] = [[META_PROTOCOL_VERSION, `"${MODERN_REVISIONS[0]}"`]];
  if (texts.identity !== undefined) members.push([META_CLIENT_INFO, texts.identity]);
  members.push([META_CLIENT_CAPABILITIES, texts.capabilities]);
  if (texts.logLevel !== undefined) members.push([META_LOG_LEVEL, `"${texts.logLevel}"`]);
  return members;
}
