import { BridgeError } from "../errors.js";
import { createDraft } from "../jsonrpc/draft.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import type { Message } from "../jsonrpc/message.js";
import type { Journal } from "../ports/journal.js";
import type { Link, LinkLoss, LinkReceiver, LinkRequest } from "../upstream/link.js";

export interface RenewedLinkOptions {
  /** Opens one more conversation. Rejects with BridgeError. */
  readonly openLink: () => Promise<Link>;
  readonly upstreamName: string;
  readonly journal: Journal;
}

/** The handshake done again; sessions count their ids up from 1 and never come here. */
const HANDSHAKE_ID = 2_147_483_645;

/** What a server refused without touching it may be sent to a new session, once. */
const UNTOUCHED: readonly LinkLoss["kind"][] = ["session-gone", "not-sent"];

/**
 * A link that outlives its conversation: when the server forgot the session or went away, the next
 * request opens a new conversation, with the handshake the client once made, and a request that the
 * server refused untouched goes there as well. Whatever the server may have begun is reported lost.
 * It opens at the first request, and is never closed by the server.
 */
export function createRenewedLink(options: RenewedLinkOptions): Link {
  const { upstreamName, journal } = options;
  const open = new Map<number, { readonly request: LinkRequest; renewed: boolean }>();
  let receiver: LinkReceiver | undefined;
  let inner: Link | undefined;
  let connecting: Promise<Link> | undefined;
  let over = false;
  let handshake: LinkRequest | undefined;
  let initialized: JsonText | undefined;
  let revision: string | undefined;
  let whenRenewed: ((failure: LinkLoss | undefined) => void) | undefined;

  const lose = (id: number, loss: LinkLoss): void => {
    if (open.delete(id)) receiver?.lost(id, loss);
  };

  const lost = (id: number, loss: LinkLoss, from: Link): void => {
    if (id === HANDSHAKE_ID) {
      whenRenewed?.(loss);
      return;
    }
    if (loss.kind === "session-gone" && inner === from) leave(from);
    const entry = open.get(id);
    const again = entry !== undefined && !entry.renewed && initialized !== undefined;
    if (!again || over || !UNTOUCHED.includes(loss.kind)) lose(id, loss);
    else {
      entry.renewed = true;
      transmit(entry.request);
    }
  };

  /** The conversation is over; whoever still waits on it is told by the link itself. */
  const leave = (from: Link): void => {
    if (inner !== from) return;
    inner = undefined;
    connecting = undefined;
    void from.close();
  };

  const listen = (link: Link): void => {
    link.start({
      message(message: Message, origin) {
        if (message.type === "response" || message.type === "error") {
          const id = Number(message.id);
          if (id === HANDSHAKE_ID) {
            const refused: LinkLoss = { kind: "not-sent", detail: "refused the handshake" };
            whenRenewed?.(message.type === "response" ? undefined : refused);
            return;
          }
          open.delete(id);
        }
        receiver?.message(message, origin);
      },
      lost: (id, loss) => lost(id, loss, link),
      closed: () => leave(link),
    });
  };

  const shakeHandsAgain = async (link: Link, request: LinkRequest): Promise<void> => {
    const failure = await new Promise<LinkLoss | undefined>((resolve) => {
      whenRenewed = resolve;
      const draft = createDraft(request.text);
      draft.set("id", `${HANDSHAKE_ID}`);
      link.request({ ...request, id: HANDSHAKE_ID, text: draft.text() });
    });
    whenRenewed = undefined;
    if (failure !== undefined) throw new BridgeError("upstream-unavailable", failure.detail);
    if (initialized !== undefined) link.send(initialized);
    if (revision !== undefined) await link.established(revision);
    journal.warn("session-renewed", { upstream: upstreamName });
  };

  const connect = (): Promise<Link> => {
    connecting ??= options.openLink().then(async (link) => {
      if (over) {
        await link.close();
        throw new BridgeError("closed", "the session has ended");
      }
      listen(link);
      if (handshake !== undefined && initialized !== undefined) {
        await shakeHandsAgain(link, handshake);
      }
      inner = link;
      return link;
    });
    return connecting;
  };

  const transmit = (request: LinkRequest): void => {
    if (inner !== undefined) {
      inner.request(request);
      return;
    }
    connect().then(
      (link) => {
        if (open.has(request.id)) link.request(request);
      },
      (error: unknown) => {
        connecting = undefined;
        const detail = error instanceof BridgeError ? error.message : "cannot be opened";
        lose(request.id, { kind: "not-sent", detail });
      },
    );
  };

  return {
    get associates() {
      return inner?.associates ?? false;
    },
    get listens() {
      return inner?.listens ?? false;
    },
    start(to) {
      receiver = to;
    },
    request(request) {
      if (request.method === "initialize") handshake = request;
      open.set(request.id, { request, renewed: false });
      transmit(request);
    },
    send(text) {
      inner?.send(text);
    },
    cancel(id, reason) {
      open.delete(id);
      inner?.cancel(id, reason);
    },
    async established(negotiated) {
      initialized ??= INITIALIZED;
      revision = negotiated;
      await inner?.established(negotiated);
    },
    async close() {
      over = true;
      await inner?.close();
    },
  };
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
