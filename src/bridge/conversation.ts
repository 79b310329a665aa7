import { createDraft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type {
  ErrorMessage,
  NotificationMessage,
  RequestMessage,
  ResponseMessage,
} from "../jsonrpc/message.js";
import type { Clock } from "../ports/clock.js";
import type { Link, LinkLoss, LinkRequest } from "../upstream/link.js";

/** What became of a request of the bridge's own; undefined when nothing came in time. */
export type Reply =
  | ResponseMessage
  | ErrorMessage
  | { readonly type: "lost"; readonly loss: LinkLoss }
  | undefined;

/** One conversation with a server, and what is on its way in it. */
export interface Conversation {
  readonly link: Link;
  /** It takes nothing new. */
  readonly over: boolean;
  request(request: LinkRequest): void;
  /** As `Link.cancel`. */
  cancel(id: number, reason: string, words?: JsonText): void;
  /** A request of the bridge's own, like one the client has made. */
  ask(like: LinkRequest, ms: number): Promise<Reply>;
  /** Takes nothing new; what is on its way may still be answered, then the link is closed. */
  leave(): void;
  /** Closes the link; resolves when nothing is left. */
  close(): Promise<void>;
}

export interface ConversationEvents {
  /** The answer to a request that was not cancelled. */
  answered(message: ResponseMessage | ErrorMessage, origin: number | undefined): void;
  /** Nothing comes from a conversation that is over. */
  said(message: RequestMessage | NotificationMessage, origin: number | undefined): void;
  lost(id: number, loss: LinkLoss): void;
  /** The link has ended by itself. */
  ended(): void;
  /** The link is closed; the last call. */
  closed(): void;
}

/** Requests of the bridge's own; sessions count their ids up from 1 and never come here. */
const FIRST_OWN_ID = 2_000_000_000;

/** Starts the link. */
export function createConversation(
  link: Link,
  clock: Clock,
  events: ConversationEvents,
): Conversation {
  const open = new Set<number>();
  const own = new Map<number, (reply: Reply) => void>();
  let nextOwnId = FIRST_OWN_ID;
  let over = false;
  /** A link reports losses and its end while it closes. */
  let begun = false;
  let closing = Promise.resolve();

  const close = (): Promise<void> => {
    over = true;
    if (begun) return closing;
    begun = true;
    for (const done of [...own.values()]) done(undefined);
    closing = link.close().finally(events.closed);
    return closing;
  };

  const settle = (id: number): void => {
    open.delete(id);
    if (over && open.size === 0) void close();
  };

  link.start({
    message(message, origin) {
      if (message.type === "request" || message.type === "notification") {
        if (!over) events.said(message, origin);
        return;
      }
      const id = Number(message.id);
      if (!open.has(id)) return;
      const done = own.get(id);
      if (done !== undefined) done(message);
      else events.answered(message, origin);
      settle(id);
    },
    lost(id, loss) {
      if (!open.has(id)) return;
      const done = own.get(id);
      if (done !== undefined) done({ type: "lost", loss });
      else events.lost(id, loss);
      settle(id);
    },
    closed: events.ended,
  });

  return {
    link,
    get over() {
      return over;
    },
    request(request) {
      open.add(request.id);
      link.request(request);
    },
    cancel(id, reason, words) {
      link.cancel(id, reason, words);
      settle(id);
    },
    ask: (like, ms) =>
      new Promise((resolve) => {
        const id = nextOwnId++;
        const draft = createDraft(like.text);
        draft.set("id", `${id}`);
        const stop = clock.after(ms, () => {
          link.cancel(id, "timeout");
          done(undefined);
        });
        const done = (reply: Reply): void => {
          stop();
          own.delete(id);
          settle(id);
          resolve(reply);
        };
        own.set(id, done);
        open.add(id);
        link.request({ ...like, id, text: draft.text() });
      }),
    leave() {
      over = true;
      if (open.size === 0) void close();
    },
    close,
  };
}
