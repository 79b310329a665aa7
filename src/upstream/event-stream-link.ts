import { BridgeError, type Challenge } from "../errors.js";
import { createSseDecoder, type SseDecoder, type SseEvent } from "../framing/sse.js";
import type { JsonText } from "../jsonrpc/json-text.js";
import { callText } from "../jsonrpc/message.js";
import { createTurnoverMap, createTurnoverSet } from "../model/turnover.js";
import type { Stop } from "../ports/clock.js";
import type { HttpSink } from "../ports/http.js";
import { CANCELLED, cancelledParams } from "../translation/cancellation.js";
import { createBodyCollector } from "./http-body.js";
import { dataOf, isEventStream, isMessage, isSuccess } from "./http-conversation.js";
import { challengeIn, judgeRefusal } from "./http-refusal.js";
import { createLegacyHttpHeaders } from "./legacy-http-headers.js";
import type { LegacyHttpLinkOptions } from "./legacy-http-link.js";
import type { Link, LinkLoss, LinkReceiver } from "./link.js";
import { type PeerTextSink, readPeerText, requestInHead } from "./peer-text.js";

const CLOSED = "closed by the bridge";

/** Where the first event of the stream says that messages go; undefined for another origin. */
function endpointOf(data: string, url: string): string | undefined {
  if (!URL.canParse(data, url)) return undefined;
  const endpoint = new URL(data, url);
  return endpoint.origin === new URL(url).origin ? endpoint.href : undefined;
}

/**
 * Opens a conversation over HTTP+SSE, the transport of revision 2024-11-05: one stream for everything
 * the server says, an endpoint for everything it is told. The stream is the session: when it ends, so
 * does the link. Rejects with BridgeError `upstream-unavailable`, `upstream-unauthorized` or, when the
 * signal aborts before the endpoint came, `closed`.
 */
export function openEventStreamLink(
  options: LegacyHttpLinkOptions,
  signal?: AbortSignal,
): Promise<Link> {
  const { url, name, exchange, clock, journal, limits } = options;
  const headers = createLegacyHttpHeaders(options.headers);
  const open = createTurnoverMap<number, string>();
  const posts = createTurnoverSet<Stop>();
  /** What came between the endpoint and `start`. */
  let early: SseEvent[] | undefined = [];
  let receiver: LinkReceiver | undefined;
  let ended: string | undefined;
  let cutStream: Stop | undefined;

  const lose = (id: number, loss: LinkLoss): void => {
    if (open.delete(id)) receiver?.lost(id, loss);
  };

  const texts: PeerTextSink = {
    call: (message) => receiver?.message(message, undefined),
    answer(id, message) {
      open.delete(id);
      receiver?.message(message, undefined);
    },
    spoiled: (id, reason) => lose(id, { kind: "invalid", detail: reason }),
    stray: () => journal.debug("late-answer-dropped", { upstream: name }),
    noise: (reason) => journal.debug("text-skipped", { upstream: name, reason }),
  };

  const take = (event: SseEvent): void => {
    if (!isMessage(event)) return;
    if (early === undefined) readPeerText(event.data, open, texts);
    else early.push(event);
  };

  const end = (detail: string): void => {
    if (ended !== undefined) return;
    ended = detail;
    for (const id of [...open.keys()]) {
      lose(id, { kind: "broken", detail: detail });
    }
    for (const cut of [...posts]) cut();
    receiver?.closed(detail);
  };

  /** `id` undefined: a notification or an answer. */
  const sinkOf = (id: number | undefined, done: () => void): HttpSink => {
    const body = createBodyCollector(limits.maxMessageBytes);
    let status = 0;
    let challenge: Challenge | undefined;
    const refuse = (loss: LinkLoss): void => {
      if (id !== undefined) lose(id, loss);
      else journal.warn("message-refused", { upstream: name, kind: loss.kind, status });
    };
    return {
      head(code, answered) {
        status = code;
        challenge = challengeIn(options, code, answered);
      },
      data: (chunk) => void body.push(chunk),
      end() {
        done();
        const text = body.text() ?? "";
        if (isSuccess(status)) {
          // Some servers answer here and not on the stream; most say "Accepted".
          if (text.startsWith("{")) readPeerText(text, open, texts);
          return;
        }
        // The endpoint names the session, so every message carries it.
        const judged = judgeRefusal({ status, body: text, id, sentSession: true, challenge });
        if ("kind" in judged) refuse(judged);
        else readPeerText(text, new Map([[id ?? 0, true]]), texts);
      },
      failed({ kind, message }) {
        done();
        if (kind === "refused") refuse({ kind: "not-sent", detail: message });
        // What was taken is answered on the stream, whatever became of the confirmation.
        else if (kind === "broken" && status === 0) refuse({ kind: "broken", detail: message });
      },
    };
  };

  const post = (endpoint: string, id: number | undefined, body: JsonText): void => {
    let cut: Stop | undefined;
    const abort = (): void => cut?.();
    posts.add(abort);
    const sink = sinkOf(id, () => posts.delete(abort));
    cut = exchange({ method: "POST", url: endpoint, headers: headers.forPost(), body }, sink);
  };

  const linkTo = (endpoint: string): Link => ({
    associates: false,
    listens: true,
    start(to) {
      receiver = to;
      const kept = early ?? [];
      early = undefined;
      for (const event of kept) take(event);
      if (ended !== undefined) to.closed(ended);
    },
    request({ id, method, text }) {
      open.set(id, method);
      if (ended === undefined) post(endpoint, id, text);
      else {
        const detail = ended;
        queueMicrotask(() => lose(id, { kind: "not-sent", detail }));
      }
    },
    send(text) {
      if (ended === undefined) post(endpoint, undefined, text);
    },
    cancel(id, reason, words) {
      const method = open.get(id);
      // `initialize` must not be cancelled (2025-11-25/basic/utilities/cancellation).
      if (!open.delete(id) || method === "initialize" || ended !== undefined) return;
      const params = cancelledParams(id, reason);
      post(endpoint, undefined, words ?? callText(undefined, CANCELLED, params));
    },
    established(revision) {
      headers.adoptRevision(revision);
      return Promise.resolve();
    },
    async close() {
      end(CLOSED);
      cutStream?.();
    },
  });

  return new Promise((resolve, reject) => {
    let settled = false;
    let events: SseDecoder | undefined;

    const fail = (error: BridgeError): void => {
      if (settled) return;
      settled = true;
      stopTimer();
      signal?.removeEventListener("abort", abort);
      ended = error.message;
      reject(error);
      cutStream?.();
    };
    const unavailable = (detail: string): void =>
      fail(new BridgeError("upstream-unavailable", `${name}: ${detail}`));
    const stopTimer = clock.after(limits.startTimeoutMs, () =>
      unavailable("the event stream names no endpoint"),
    );
    const streamEnded = (detail: string): void => {
      if (settled) end(detail);
      else unavailable(detail);
    };
    const arrive = (event: SseEvent): void => {
      if (settled) {
        take(event);
        return;
      }
      if (event.event !== "endpoint") return;
      const endpoint = endpointOf(event.data, url);
      if (endpoint === undefined)
        unavailable("the endpoint of the event stream is of another origin");
      else {
        settled = true;
        stopTimer();
        signal?.removeEventListener("abort", abort);
        resolve(linkTo(endpoint));
      }
    };

    const abort = (): void => fail(new BridgeError("closed", `${name}: no longer wanted`));
    signal?.addEventListener("abort", abort);

    cutStream = exchange(
      { method: "GET", url, headers: headers.forGet(""), body: undefined },
      {
        head(status, answered) {
          if (status === 401 || status === 403) {
            const challenge = challengeIn(options, status, answered);
            const text = `${name} refused the credentials`;
            fail(new BridgeError("upstream-unauthorized", text, { challenge, data: { status } }));
          } else if (isSuccess(status) && isEventStream(answered)) {
            events = createSseDecoder({
              maxBytes: limits.maxMessageBytes,
              onEvent: arrive,
              onOversized(head) {
                const id = requestInHead(dataOf(head), open);
                if (id === undefined) journal.warn("message-dropped", { upstream: name });
                else texts.spoiled(id, "the answer is longer than the limit for one message");
              },
            });
          } else unavailable(`no event stream, HTTP status ${status}`);
        },
        data: (chunk) => events?.push(chunk),
        end: () => streamEnded("the event stream ended"),
        failed: ({ message }) => streamEnded(message),
      },
    );
  });
}
