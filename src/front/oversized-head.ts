import type { RequestId } from "../jsonrpc/message.js";

const MEMBER = /[{,]\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)(?=\s*[,}])/y;

/**
 * The id of a request of which only the beginning is there, so that its sender need not wait for ever.
 * Undefined unless `id` and `method` both stand in front of everything else: an id further inside could
 * be anyone's, and one without a method belongs to an answer.
 */
export function readOversizedHead(head: string): RequestId | undefined {
  let id: RequestId | undefined;
  let isCall = false;
  MEMBER.lastIndex = head.length - head.trimStart().length;
  for (;;) {
    const member = MEMBER.exec(head);
    if (member === null) return isCall ? id : undefined;
    if (member[1] === "id") id = member[2];
    else if (member[1] === "method") isCall = true;
    // The pattern starts at the separator, which may have space in front of it.
    while (/\s/.test(head.charAt(MEMBER.lastIndex))) MEMBER.lastIndex++;
  }
}
