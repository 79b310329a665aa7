import { BridgeError } from "../errors.js";
import type { HttpHeaders } from "../ports/http.js";
import { openEventStreamLink } from "./event-stream-link.js";
import { createLegacyHttpLink, type LegacyHttpLinkOptions } from "./legacy-http-link.js";
import type { Link, LinkLoss, LinkReceiver, LinkRequest } from "./link.js";

/** Opens conversations with a legacy server behind a URL, whichever of the two transports it has. */
export interface LegacyUrlLinks {
  /** Rejects with BridgeError; where nothing is known yet it fails on `initialize` instead. */
  open(headers: () => HttpHeaders): Promise<Link>;
}

/** What a server without Streamable HTTP answers to the POST of `initialize`. */
const NOT_STREAMABLE: readonly (number | undefined)[] = [400, 404, 405];

/**
 * Streamable HTTP first, and HTTP+SSE where the POST of `initialize` is refused and a GET names an
 * endpoint (2025-11-25/basic/transports, "Backwards Compatibility"). What was found is remembered for
 * the conversations that follow.
 */
export function createLegacyUrlLinks(
  options: Omit<LegacyHttpLinkOptions, "headers">,
): LegacyUrlLinks {
  let eventStream = false;

  return {
    async open(headers) {
      const all = { ...options, headers };
      if (eventStream) {
        try {
          return await openEventStreamLink(all);
        } catch (error) {
          // The server may have learnt the newer transport since.
          eventStream = false;
          throw error;
        }
      }
      return createFallingLink(all, () => {
        eventStream = true;
        options.journal.info("event-stream-transport", { upstream: options.name });
      });
    },
  };
}

/** Refused credentials say more than that the newer transport is missing. */
function toRefusal(error: unknown): LinkLoss | undefined {
  const refused = error instanceof BridgeError && error.code === "upstream-unauthorized";
  if (!refused) return undefined;
  const { message: detail, challenge } = error;
  return { kind: "unauthorized", detail, challenge };
}

function isTransportRefusal({ kind, status }: LinkLoss): boolean {
  return kind === "rejected" && NOT_STREAMABLE.includes(status);
}

/** A link over Streamable HTTP that becomes one over HTTP+SSE when its `initialize` is refused. */
function createFallingLink(options: LegacyHttpLinkOptions, fell: () => void): Link {
  const streamable = createLegacyHttpLink(options);
  let link = streamable;
  let receiver: LinkReceiver | undefined;
  let initialize: LinkRequest | undefined;
  /** Set while the event stream is being opened. */
  let falling: AbortController | undefined;

  const fall = async (request: LinkRequest, loss: LinkLoss): Promise<void> => {
    const attempt = new AbortController();
    falling = attempt;
    const other = await openEventStreamLink(options, attempt.signal).catch(toRefusal);
    falling = undefined;
    if (other === undefined || "kind" in other) {
      if (!attempt.signal.aborted) receiver?.lost(request.id, other ?? loss);
    } else if (receiver === undefined || attempt.signal.aborted) {
      await other.close();
    } else {
      fell();
      link = other;
      other.start(receiver);
      other.request(request);
    }
  };

  return {
    get associates() {
      return link.associates;
    },
    get listens() {
      return link.listens;
    },
    start(to) {
      receiver = to;
      streamable.start({
        message: (message, origin) => to.message(message, origin),
        lost(id, loss) {
          if (initialize?.id === id && isTransportRefusal(loss)) void fall(initialize, loss);
          else to.lost(id, loss);
        },
        closed: (detail) => to.closed(detail),
      });
    },
    request(request) {
      if (request.method === "initialize") initialize = request;
      link.request(request);
    },
    send: (text) => link.send(text),
    cancel(id, reason, words) {
      if (initialize?.id === id) falling?.abort();
      link.cancel(id, reason, words);
    },
    established: (revision) => link.established(revision),
    close() {
      if (falling !== undefined && initialize !== undefined) {
        falling.abort();
        receiver?.lost(initialize.id, { kind: "not-sent", detail: "closed by the bridge" });
      }
      return link.close();
    },
  };
}
