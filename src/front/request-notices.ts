import { asNumber, type JsonText } from "../jsonrpc/json-text.js";
import { callText } from "../jsonrpc/message.js";
import { memberOf, type RawObject, readObject } from "../jsonrpc/raw-object.js";
import { LOG_MESSAGE, type Notice, PROGRESS } from "../model/notice.js";
import { isLogWanted } from "../translation/log-level.js";
import { serverNotificationMembership } from "../wire/classify.js";
import type { Envelope } from "../wire/modern/envelope.js";

/**
 * What of a round's notices may stand on its response stream: progress under the client's own token
 * and rising (2026-07-28/basic/patterns/progress), log messages the request asked for
 * (2026-07-28/server/utilities/logging), and what neither era defines. Changes have their own stream.
 */
export function createRequestNotices(
  envelope: Envelope,
  write: (text: JsonText) => void,
): (notice: Notice) => void {
  let last = Number.NEGATIVE_INFINITY;

  const progress = (notice: Notice, token: JsonText): void => {
    const params = readObject(notice.params);
    const value = asNumber(memberOf(params, "progress"));
    if (params === undefined || value === undefined || value <= last) return;
    last = value;
    write(callText(undefined, PROGRESS, withToken(params, token)));
  };

  return (notice) => {
    if (notice.method === PROGRESS) {
      if (envelope.progressToken !== undefined) progress(notice, envelope.progressToken);
      return;
    }
    const passes =
      notice.method === LOG_MESSAGE
        ? isLogWanted(notice.params, envelope.logLevel)
        : serverNotificationMembership(notice.method) === "unknown";
    if (passes) write(callText(undefined, notice.method, notice.params));
  };
}

function withToken(params: RawObject, token: JsonText): JsonText {
  const others = params.members.filter(({ key }) => key !== "progressToken");
  const rest = others.map(({ keyStart, end }) => `,${params.text.slice(keyStart, end)}`);
  return `{"progressToken":${token}${rest.join("")}}`;
}
