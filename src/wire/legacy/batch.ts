import { INVALID_REQUEST } from "../../jsonrpc/error-codes.js";
import type { JsonText } from "../../jsonrpc/json-text.js";
import { type Malformed, type Message, parseMessage } from "../../jsonrpc/message.js";
import type { LegacyRevision } from "../../model/era.js";

/** Arrays of messages exist in this one revision: the next took them away (2025-06-18/changelog). */
export function allowsBatches(revision: LegacyRevision | undefined): boolean {
  return revision === "2025-03-26";
}

/**
 * Reads the elements of an array of messages. An element that is no message, an array in an array,
 * and `initialize`, which must stand alone (2025-03-26/basic/lifecycle), come back as malformed.
 */
export function readBatch(elements: readonly JsonText[]): readonly (Message | Malformed)[] {
  return elements.map((element) => {
    const parsed = parseMessage(element);
    if (parsed.type === "batch") return refused("an array inside an array", undefined);
    if (parsed.type === "request" && parsed.method === "initialize") {
      return refused("initialize must not be part of a batch", parsed.id);
    }
    return parsed;
  });
}

function refused(reason: string, id: JsonText | undefined): Malformed {
  return { type: "malformed", id, code: INVALID_REQUEST, reason };
}

/** The answers of a batch as one text. */
export function batchText(answers: readonly JsonText[]): JsonText {
  return `[${answers.join(",")}]`;
}
