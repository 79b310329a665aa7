import { INVALID_PARAMS } from "../jsonrpc/error-codes.js";
import { asString, isObjectText, type JsonText } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import { isLegacyRevision, type LegacyRevision, NEWEST_LEGACY } from "../model/era.js";
import { type WireError, wireError } from "../model/wire-error.js";
import { liftClientCapabilities } from "../translation/lift-request.js";

/** What a handshake settles, all a session needs to go on elsewhere. */
export interface Handshake {
  readonly revision: LegacyRevision;
  /** The client's capabilities as it can be asked on each request. */
  readonly capabilities: JsonText;
  /** The client's `clientInfo` object. */
  readonly identity: JsonText | undefined;
}

/**
 * Reads the params of `initialize` (2025-11-25/basic/lifecycle, "Version Negotiation"). A revision that
 * is no legacy one, the modern ones among them, is met with the newest legacy one.
 */
export function readHandshake(params: JsonText | undefined): Handshake | WireError {
  const object = readObject(params);
  const requested = asString(memberOf(object, "protocolVersion"));
  if (requested === undefined) {
    return wireError(INVALID_PARAMS, "protocolVersion must be a string");
  }
  const capabilities = memberOf(object, "capabilities") ?? "{}";
  if (!isObjectText(capabilities)) {
    return wireError(INVALID_PARAMS, "capabilities must be an object");
  }
  const revision = isLegacyRevision(requested) ? requested : NEWEST_LEGACY;
  const identity = memberOf(object, "clientInfo");
  return {
    revision,
    capabilities: liftClientCapabilities(capabilities, revision),
    identity: isObjectText(identity) ? identity : undefined,
  };
}
