import { INVALID_PARAMS } from "../../jsonrpc/error-codes.js";
import { asString, isArrayText, isObjectText, type JsonText } from "../../jsonrpc/json-text.js";
import { memberAt, memberOf, type RawObject, readObject } from "../../jsonrpc/raw-object.js";
import { elementsOf } from "../../jsonrpc/skip.js";
import type { Interest } from "../../model/notice.js";
import type { Failed } from "../../model/operation.js";
import { MISSING_CLIENT_CAPABILITY } from "../../model/wire-error.js";
import { type Envelope, refused } from "./envelope.js";
import { TASKS_EXTENSION } from "./methods.js";

/** Refuses the use of an extension the client has not declared on this request. */
export function extensionFault(envelope: Envelope, extension: string): Failed | undefined {
  const declared = memberAt(envelope.capabilities, "extensions", extension);
  if (isObjectText(declared)) return undefined;
  return refused(
    MISSING_CLIENT_CAPABILITY,
    `The request needs the client capability extensions.${extension}`,
    { requiredCapabilities: { extensions: { [extension]: {} } } },
  );
}

/**
 * Reads the filter of `subscriptions/listen` (2026-07-28/basic/patterns/subscriptions, "Notification
 * Filter"). A flag counts only when it is `true`; members nobody here knows stay in `text`.
 */
export function readInterest(
  params: RawObject | undefined,
  envelope: Envelope,
  maxUris: number,
): Interest | Failed {
  const text = memberOf(params, "notifications");
  if (!isObjectText(text)) return refused(INVALID_PARAMS, "params.notifications must be an object");
  const filter = readObject(text);
  const uris = readUris(memberOf(filter, "resourceSubscriptions"));
  if (uris === undefined) {
    return refused(INVALID_PARAMS, "resourceSubscriptions must be an array of strings");
  }
  if (uris.length > maxUris) {
    return refused(INVALID_PARAMS, `resourceSubscriptions has more than ${maxUris} entries`);
  }
  if (memberOf(filter, "taskIds") !== undefined) {
    const fault = extensionFault(envelope, TASKS_EXTENSION);
    if (fault !== undefined) return fault;
  }
  return {
    toolsListChanged: memberOf(filter, "toolsListChanged") === "true",
    promptsListChanged: memberOf(filter, "promptsListChanged") === "true",
    resourcesListChanged: memberOf(filter, "resourcesListChanged") === "true",
    resourceSubscriptions: uris,
    text,
  };
}

function readUris(text: JsonText | undefined): readonly string[] | undefined {
  if (text === undefined) return [];
  if (!isArrayText(text)) return undefined;
  const uris = new Set<string>();
  for (const element of elementsOf(text)) {
    const uri = asString(element);
    if (uri === undefined) return undefined;
    uris.add(uri);
  }
  return [...uris];
}
