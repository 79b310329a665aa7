import { asString } from "../jsonrpc/json-text.js";
import type { NotificationMessage } from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Limits } from "../model/limits.js";
import {
  LOG_MESSAGE,
  PROMPTS_CHANGED,
  RESOURCE_UPDATED,
  RESOURCES_CHANGED,
  TOOLS_CHANGED,
} from "../model/notice.js";
import type { Journal } from "../ports/journal.js";
import { deliverLog } from "./call-notices.js";
import type { Calls } from "./calls.js";
import type { LegacyCall } from "./legacy-call.js";
import type { LegacySession } from "./legacy-session.js";

export interface ServerNoticesOptions {
  readonly name: string;
  readonly calls: Calls;
  /** The server takes back a question of its own. */
  readonly withdraw: (session: LegacySession, id: string) => void;
  /** A list changed, or a resource. */
  readonly changed: (session: LegacySession, message: NotificationMessage) => void;
  readonly urlCompleted: (session: LegacySession, elicitationId: string) => void;
  readonly taskChanged: (session: LegacySession, message: NotificationMessage) => void;
  readonly journal: Journal;
  readonly limits: Limits;
}

/** Takes every notification of a server but progress to where it belongs. */
export type ServerNotices = (
  session: LegacySession,
  message: NotificationMessage,
  origin: number | undefined,
) => void;

export function createServerNotices(options: ServerNoticesOptions): ServerNotices {
  const { name, calls, journal, limits } = options;

  /** The call a message belongs to: by its stream, else the only one that it can belong to. */
  const ownerOf = (
    session: LegacySession,
    origin: number | undefined,
    eligible: (call: LegacyCall) => boolean,
  ): LegacyCall | undefined => {
    const open = calls.of(session);
    if (origin !== undefined) return open.get(origin);
    let only: LegacyCall | undefined;
    for (const call of open.values()) {
      if (!eligible(call)) continue;
      if (only !== undefined) return undefined;
      only = call;
    }
    return only;
  };

  const log: ServerNotices = (session, { params }, origin) => {
    const owner = ownerOf(session, origin, (call) => call.logLevel !== undefined);
    if (owner !== undefined && deliverLog(owner, params, limits.maxKeptLogs)) return;
    journal.debug("log-message-dropped", { upstream: name, session: session.serial });
  };

  const unknown: ServerNotices = (session, { method, params }, origin) => {
    const owner = ownerOf(session, origin, (call) => call.attachment !== undefined);
    if (owner?.attachment !== undefined) owner.attachment.notices({ method, params });
    else journal.info("notification-dropped", { upstream: name, method });
  };

  return (session, message, origin) => {
    const { method, params } = message;
    switch (method) {
      case LOG_MESSAGE:
        log(session, message, origin);
        return;
      case TOOLS_CHANGED:
      case PROMPTS_CHANGED:
      case RESOURCES_CHANGED:
      case RESOURCE_UPDATED:
        options.changed(session, message);
        return;
      case "notifications/cancelled": {
        const id = memberAt(params, "requestId");
        if (id !== undefined) options.withdraw(session, id);
        return;
      }
      case "notifications/elicitation/complete":
        options.urlCompleted(session, asString(memberAt(params, "elicitationId")) ?? "");
        return;
      case "notifications/tasks/status":
        options.taskChanged(session, message);
        return;
      default:
        unknown(session, message, origin);
    }
  };
}
