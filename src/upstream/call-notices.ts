import { asNumber, asString, type JsonText } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { isLogLevel, type LogLevel, passesLevel } from "../model/log-level.js";
import { LOG_MESSAGE, type Notice, PROGRESS } from "../model/notice.js";
import { withoutToken } from "../translation/progress.js";
import type { KeptNotices, LegacyCall } from "./legacy-call.js";

function keptOf(call: LegacyCall): KeptNotices {
  call.kept ??= { progress: undefined, logs: [] };
  return call.kept;
}

/** Progress of a call: to the round that waits, else the newest is kept for the next one. */
export function deliverProgress(call: LegacyCall, params: JsonText): void {
  const { attachment } = call;
  if (attachment === undefined) {
    keptOf(call).progress = params;
    return;
  }
  if (!attachment.wantsProgress) return;
  call.lastProgress = params;
  attachment.notices({ method: PROGRESS, params: withoutToken(params) });
}

function levelOf(notice: Notice): LogLevel | undefined {
  const level = asString(memberAt(notice.params, "level"));
  return isLogLevel(level) ? level : undefined;
}

/** A log message of a call, where its newest round wanted messages of that level. False: dropped. */
export function deliverLog(
  call: LegacyCall,
  params: JsonText | undefined,
  maxKept: number,
): boolean {
  const notice: Notice = { method: LOG_MESSAGE, params };
  const level = levelOf(notice);
  if (level === undefined || call.logLevel === undefined) return false;
  if (!passesLevel(level, call.logLevel)) return false;
  if (call.attachment !== undefined) call.attachment.notices(notice);
  else {
    const { logs } = keptOf(call);
    logs.push(notice);
    if (logs.length > maxKept) logs.shift();
  }
  return true;
}

function progressOf(params: JsonText | undefined): number {
  return asNumber(memberAt(params, "progress")) ?? Number.NEGATIVE_INFINITY;
}

/** Gives a new round what arrived while none waited. */
export function deliverKept(call: LegacyCall): void {
  const { kept, attachment } = call;
  call.kept = undefined;
  if (kept === undefined || attachment === undefined) return;
  // Progress must increase (2026-07-28/basic/patterns/progress), over all rounds of the call.
  if (kept.progress !== undefined && progressOf(kept.progress) > progressOf(call.lastProgress)) {
    deliverProgress(call, kept.progress);
  }
  for (const notice of kept.logs) {
    const level = levelOf(notice);
    if (level === undefined || attachment.logLevel === undefined) continue;
    if (passesLevel(level, attachment.logLevel)) attachment.notices(notice);
  }
}
