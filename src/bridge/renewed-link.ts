import { BridgeError } from "../errors.js";
import { asString, type JsonText } from "../jsonrpc/json-text.js";
import {
  type ErrorMessage,
  type Message,
  parseMessage,
  type ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Limits } from "../model/limits.js";
import { createTurnoverMap } from "../model/turnover.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { isUnprocessed, meansSessionGone, toBridgeError } from "../upstream/exchange.js";
import type { Link, LinkLoss, LinkRequest } from "../upstream/link.js";
import { type Conversation, createConversation } from "./conversation.js";
import { createSessionMemory } from "./session-memory.js";

/** Takes what a server sends, whichever conversation it comes from. */
export interface RenewedReceiver {
  message(message: Message, origin: number | undefined): void;
  /** Called at most once for a request, and never after its answer. */
  lost(id: number, loss: LinkLoss): void;
  /** The conversation is over: whatever the server has asked in it waits for no answer. */
  forgotten(): void;
}

/**
 * A link that outlives its conversation: when the server forgot the session or went away, the next
 * request opens a new conversation, with the handshake the client once made, and a request that the
 * server refused untouched goes there as well, once. Whatever the server may have begun is reported
 * lost. The log level and the subscriptions are restored, and the client is told that everything it
 * watches may have changed.
 */
export interface RenewedLink {
  /** True where messages that belong to a request come with its id as origin. */
  readonly associates: boolean;
  /** Called once, before anything is sent. Nothing is opened before the first request. */
  start(receiver: RenewedReceiver): void;
  request(request: LinkRequest): void;
  /** Sends a notification, in order with the requests; dropped where there is no conversation. */
  notify(text: JsonText): void;
  /** Sends what belongs to a request of the server, at once. */
  reply(text: JsonText): void;
  /** The client's word that the handshake is complete; requests wait until the server can send by itself. */
  initialized(text: JsonText): void;
  /** As `Link.cancel`. */
  cancel(id: number, reason: string, words?: JsonText): void;
  /** Resolves when nothing is left; requests without an answer are not reported. */
  close(): Promise<void>;
}

export interface RenewedLinkOptions {
  /** Opens one more conversation. Rejects with BridgeError. */
  readonly openLink: () => Promise<Link>;
  readonly upstreamName: string;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
}

interface Sent {
  readonly request: LinkRequest;
  in: Conversation | undefined;
  repeated: boolean;
}

type Answer = ResponseMessage | ErrorMessage;

const ENDED = "the session has ended";

export function createRenewedLink(options: RenewedLinkOptions): RenewedLink {
  const { upstreamName, clock, journal, limits } = options;
  const sent = createTurnoverMap<number, Sent>();
  const conversations = new Set<Conversation>();
  const memory = createSessionMemory(limits.maxWatchedUris);
  let receiver: RenewedReceiver | undefined;
  let current: Conversation | undefined;
  /** The one that is being opened; the server may ask something in it before it serves. */
  let coming: Conversation | undefined;
  /** What waits, in order, while a conversation is being opened. */
  let held: (Sent | JsonText)[] | undefined;
  let opening: Promise<void> | undefined;
  let handshake: { readonly request: LinkRequest; readonly revision: string } | undefined;
  let initialized: JsonText | undefined;
  let closing: Promise<void> | undefined;

  const lose = (id: number, loss: LinkLoss): void => {
    if (sent.delete(id)) receiver?.lost(id, loss);
  };

  /** Nothing new goes there. What is on its way stays: the server may know it, or say that it does not. */
  const leave = (conversation: Conversation): void => {
    conversation.leave();
    if (conversation !== current) return;
    current = undefined;
    receiver?.forgotten();
    if (memory.watches) connect();
  };

  const answered = (conversation: Conversation, message: Answer, origin?: number): void => {
    const id = Number(message.id);
    const entry = sent.get(id);
    if (entry?.in !== conversation) return;
    sent.delete(id);
    if (message.type === "response") agree(entry.request, message.result);
    receiver?.message(message, origin);
  };

  const agree = (request: LinkRequest, result: JsonText): void => {
    memory.note(request, result);
    if (request.method !== "initialize") return;
    handshake = { request, revision: asString(memberAt(result, "protocolVersion")) ?? "" };
  };

  const lost = (conversation: Conversation, id: number, loss: LinkLoss): void => {
    if (meansSessionGone(loss) && handshake !== undefined) leave(conversation);
    const entry = sent.get(id);
    if (entry?.in !== conversation) return;
    const again = handshake !== undefined && !entry.repeated && closing === undefined;
    if (!again || !isUnprocessed(loss)) lose(id, loss);
    else {
      entry.repeated = true;
      transmit(entry);
    }
  };

  const converse = (link: Link): Conversation => {
    const conversation = createConversation(link, clock, {
      answered: (message, origin) => answered(conversation, message, origin),
      said: (message, origin) => receiver?.message(message, origin),
      lost: (id, loss) => lost(conversation, id, loss),
      ended: () => leave(conversation),
      closed: () => conversations.delete(conversation),
    });
    conversations.add(conversation);
    return conversation;
  };

  const shakeHandsAgain = async (conversation: Conversation): Promise<void> => {
    if (handshake === undefined) return;
    const { request, revision } = handshake;
    const answer = await conversation.ask(request, limits.startTimeoutMs);
    if (answer?.type === "lost" && answer.loss.kind === "unauthorized") {
      throw toBridgeError(answer.loss, upstreamName);
    }
    if (answer?.type !== "response") {
      throw new BridgeError("upstream-unavailable", "the handshake failed when it was made again");
    }
    const spoken = asString(memberAt(answer.result, "protocolVersion")) ?? "no revision";
    if (spoken !== revision) {
      const text = `it speaks ${spoken.slice(0, 40)} now, the client ${revision}`;
      throw new BridgeError("not-bridgeable", text);
    }
    journal.warn("session-renewed", { upstream: upstreamName });
    if (initialized === undefined) return;
    conversation.link.send(initialized);
    await conversation.link.established(revision);
    void restore(conversation);
  };

  /** Asks for what the client had asked for, then tells it what it may have missed. */
  const restore = async (conversation: Conversation): Promise<void> => {
    const requests = memory.requests();
    const answers = await Promise.all(
      requests.map((request) => conversation.ask(request, limits.subscribeWaitMs)),
    );
    if (conversation.over) return;
    answers.forEach((answer, index) => {
      if (answer?.type === "response") return;
      journal.warn("not-restored", { upstream: upstreamName, method: requests[index]?.method });
    });
    for (const text of memory.changes()) {
      const message = parseMessage(text);
      if (message.type === "notification") receiver?.message(message, undefined);
    }
  };

  const open = async (): Promise<Conversation> => {
    const link = await options.openLink();
    if (closing !== undefined) {
      await link.close();
      throw new BridgeError("closed", ENDED);
    }
    const conversation = converse(link);
    coming = conversation;
    try {
      await shakeHandsAgain(conversation);
      if (conversation.over) throw new BridgeError("upstream-unavailable", "it ended at once");
    } catch (error) {
      await conversation.close();
      throw error;
    } finally {
      coming = undefined;
    }
    return conversation;
  };

  const release = (): readonly (Sent | JsonText)[] => {
    const items = held ?? [];
    held = undefined;
    return items;
  };

  const connect = (): void => {
    if (held !== undefined || closing !== undefined) return;
    held = [];
    const flight = open().then(
      (conversation) => {
        current = conversation;
        for (const item of release()) transmit(item);
      },
      (error: unknown) => {
        const loss = toLoss(error);
        for (const item of release()) if (typeof item !== "string") lose(item.request.id, loss);
      },
    );
    opening = flight;
  };

  const transmit = (item: Sent | JsonText): void => {
    if (current === undefined && typeof item !== "string") connect();
    if (held !== undefined) held.push(item);
    else if (current === undefined)
      journal.debug("notification-dropped", { upstream: upstreamName });
    else if (typeof item === "string") current.link.send(item);
    else if (sent.get(item.request.id) === item) {
      item.in = current;
      current.request(item.request);
    }
  };

  const establish = async (conversation: Conversation, revision: string): Promise<void> => {
    held ??= [];
    await conversation.link.established(revision);
    for (const item of release()) transmit(item);
  };

  const end = async (): Promise<void> => {
    sent.clear();
    held = undefined;
    let stop = (): void => {};
    const patience = new Promise<void>((resolve) => {
      stop = clock.after(limits.stopGraceMs, resolve);
    });
    await Promise.all([
      ...[...conversations].map((conversation) => conversation.close()),
      Promise.race([opening, patience]),
    ]);
    stop();
  };

  return {
    get associates() {
      return current?.link.associates ?? false;
    },
    start(to) {
      receiver = to;
    },
    request(request) {
      const entry: Sent = { request, in: undefined, repeated: false };
      sent.set(request.id, entry);
      transmit(entry);
    },
    notify: transmit,
    reply: (text) => (current ?? coming)?.link.send(text),
    initialized(text) {
      initialized = text;
      transmit(text);
      if (current !== undefined && handshake !== undefined && held === undefined) {
        void establish(current, handshake.revision);
      }
    },
    cancel(id, reason, words) {
      const entry = sent.get(id);
      sent.delete(id);
      entry?.in?.cancel(id, reason, words);
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}

function toLoss(error: unknown): LinkLoss {
  if (!(error instanceof BridgeError)) return { kind: "not-sent", detail: "it cannot be opened" };
  const { code, message: detail, challenge } = error;
  return {
    kind: code === "upstream-unauthorized" ? "unauthorized" : "not-sent",
    detail,
    challenge,
  };
}
