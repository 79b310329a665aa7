import { BridgeError } from "../errors.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { NotificationMessage } from "../jsonrpc/message.js";
import type { Caller } from "../model/caller.js";
import { PeerError } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import type { Notices } from "../model/notice.js";
import type { Clock } from "../ports/clock.js";
import type { HttpHeaders } from "../ports/http.js";
import { lowerNotice } from "../translation/lower-notice.js";
import { type Exchange, toBridgeError } from "./exchange.js";
import { toWireError } from "./legacy-conversation.js";
import { acknowledged } from "./listen-filter.js";
import type { ModernConversation } from "./modern-conversation.js";
import { listenText } from "./modern-request-text.js";

/** One `subscriptions/listen` that the server has acknowledged. */
export interface ListenStream {
  /** The `notifications` object of the acknowledgement. */
  readonly honoured: JsonText;
  /** Takes what comes; what came since the acknowledgement comes first. */
  deliverTo(notices: Notices): void;
  /** Resolves when the server or the transport ended it; never rejects. */
  readonly ended: Promise<void>;
  /** Ends it from this side. */
  close(): void;
}

export interface ListenStreamDeps {
  readonly name: string;
  readonly conversation: ModernConversation;
  readonly headers: ((caller: Caller, method: string) => HttpHeaders) | undefined;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "listenAckMs">;
}

/** Changes that come between the acknowledgement and its reader. */
const MAX_EARLY = 100;

/**
 * Opens a subscription and waits for its acknowledgement (2026-07-28/basic/patterns/subscriptions).
 * Rejects with BridgeError or PeerError.
 */
export async function openListenStream(
  filter: JsonText,
  caller: Caller,
  deps: ListenStreamDeps,
): Promise<ListenStream> {
  const { conversation, name, clock, limits } = deps;
  await conversation.ready();
  return new Promise((resolve, reject) => {
    let early: { method: string; params: JsonText | undefined }[] | undefined = [];
    let notices: Notices | undefined;
    let isAcknowledged = false;
    let exchange: Exchange | undefined;
    let end: () => void = () => {};
    const ended = new Promise<void>((over) => {
      end = over;
    });

    const stopWaiting = clock.after(limits.listenAckMs, () => {
      close("no acknowledgement");
      reject(new BridgeError("upstream-timeout", `${name} did not acknowledge the subscription`));
    });
    const close = (reason: string): void => {
      stopWaiting();
      if (exchange !== undefined) conversation.cancel(exchange, reason);
    };
    const acknowledge = (params: JsonText | undefined): void => {
      isAcknowledged = true;
      stopWaiting();
      resolve({
        honoured: acknowledged(params),
        deliverTo(to) {
          notices = to;
          for (const notice of early ?? []) to(notice);
          early = undefined;
        },
        ended,
        close: () => close("nobody listens any more"),
      });
    };
    const fail = (error: unknown): void => {
      stopWaiting();
      reject(error);
      end();
    };
    const told = ({ method, params }: NotificationMessage): void => {
      if (method === "notifications/subscriptions/acknowledged") {
        if (!isAcknowledged) acknowledge(params);
      } else if (method === "notifications/cancelled") {
        close("ended by the server");
        fail(new BridgeError("upstream-lost", `${name} ended the subscription`));
      } else {
        // The id belongs to this hop; who watches knows the change by what it is.
        const notice = { method, params: lowerNotice(params) };
        if (notices !== undefined) notices(notice);
        else if (early !== undefined && early.length < MAX_EARLY) early.push(notice);
      }
    };

    const spec = {
      method: "subscriptions/listen",
      text: (id: number) => listenText(filter, caller, id),
      headers: deps.headers?.(caller, "subscriptions/listen"),
      logsFor: undefined,
      standing: true,
    };
    try {
      exchange = conversation.request(spec, {
        told,
        answered: (message) =>
          fail(
            message.type === "error"
              ? new PeerError(toWireError(message.error))
              : new BridgeError("upstream-lost", `${name} ended the subscription`),
          ),
        lost: (loss) => fail(toBridgeError(loss, name)),
      });
    } catch (error) {
      fail(error);
    }
  });
}
