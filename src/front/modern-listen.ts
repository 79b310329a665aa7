import { createDraft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { callText, errorText, type RequestId, resultText } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import { META_SUBSCRIPTION_ID } from "../model/meta-keys.js";
import {
  type Interest,
  type Notice,
  PROMPTS_CHANGED,
  RESOURCE_UPDATED,
  RESOURCES_CHANGED,
  TOOLS_CHANGED,
} from "../model/notice.js";
import type { Service } from "../model/service.js";
import { CANCELLED, cancelledParams } from "../translation/cancellation.js";
import { serverNotificationMembership } from "../wire/classify.js";
import { MODERN_SERVER_NOTIFICATIONS } from "../wire/modern/methods.js";
import type { ModernReply } from "./modern-reply.js";

export interface ListenDeps {
  readonly service: Service;
  readonly limits: Limits;
}

export interface ListenRequest {
  readonly id: RequestId;
  readonly interest: Interest;
  readonly caller: Caller;
}

/**
 * Serves one `subscriptions/listen` until the client cancels (`signal`), the server ends it or the
 * returned function is called; `over` is called once when nothing is left of it
 * (2026-07-28/basic/patterns/subscriptions).
 */
export function openListen(
  { service, limits }: ListenDeps,
  { id, interest, caller }: ListenRequest,
  reply: ModernReply,
  signal: AbortSignal,
  over: () => void,
): () => void {
  const watching = new AbortController();
  let early: Notice[] | undefined = [];
  let ended = false;

  const end = (): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener("abort", end);
    watching.abort();
    over();
  };

  const endGracefully = (): void => {
    if (ended) return;
    end();
    const meta = `{"resultType":"complete","_meta":${subscriptionMeta(id)}}`;
    reply.result(resultText(id, meta));
    // Where all share one pipe, this is how a server tears a subscription down
    // (2026-07-28/basic/patterns/cancellation).
    if (reply.shared) {
      reply.notice(callText(undefined, CANCELLED, cancelledParams(id)));
    }
  };

  const deliver = ({ method, params }: Notice): void => {
    if (!ended) reply.notice(callText(undefined, method, stamped(params, id)));
  };

  const receive = (notice: Notice): void => {
    if (!isWanted(notice.method, interest)) return;
    if (early === undefined) deliver(notice);
    else if (early.length < limits.maxWatchedUris) early.push(notice);
  };

  const acknowledge = (honoured: JsonText): void => {
    const params = `{"_meta":${subscriptionMeta(id)},"notifications":${honoured}}`;
    reply.notice(callText(undefined, "notifications/subscriptions/acknowledged", params));
    const held = early ?? [];
    early = undefined;
    for (const notice of held) deliver(notice);
  };

  signal.addEventListener("abort", end);
  service.watch(interest, caller, receive, watching.signal).then(
    (acknowledgement) => {
      if (ended) return;
      acknowledge(acknowledgement.honoured);
      void acknowledgement.ended.then(endGracefully);
    },
    (error: unknown) => {
      if (ended) return;
      end();
      const failed = toFailed(error);
      reply.failed(errorText(id, failed.error.text), failed);
    },
  );
  return endGracefully;
}

function subscriptionMeta(id: RequestId): JsonText {
  return `{"${META_SUBSCRIPTION_ID}":${id}}`;
}

function stamped(params: JsonText | undefined, id: RequestId): JsonText {
  const draft = createDraft(params);
  draft.ensureObject("_meta").set(META_SUBSCRIPTION_ID, id);
  return draft.text();
}

/** Nothing goes out that the filter did not ask for; what extensions add is theirs to filter. */
function isWanted(method: string, interest: Interest): boolean {
  switch (method) {
    case TOOLS_CHANGED:
      return interest.toolsListChanged;
    case PROMPTS_CHANGED:
      return interest.promptsListChanged;
    case RESOURCES_CHANGED:
      return interest.resourcesListChanged;
    case RESOURCE_UPDATED:
      return interest.resourceSubscriptions.length > 0;
    case "notifications/cancelled":
    case "notifications/subscriptions/acknowledged":
      return false;
    default:
      return (
        MODERN_SERVER_NOTIFICATIONS.get(method) === "listen" ||
        serverNotificationMembership(method) === "unknown"
      );
  }
}
