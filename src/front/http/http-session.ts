import { BridgeError } from "../../errors.js";
import { isObjectText } from "../../jsonrpc/json-text.js";
import {
  type BatchMessage,
  errorText,
  type Malformed,
  type Message,
  type RequestId,
  type RequestMessage,
} from "../../jsonrpc/message.js";
import { memberAt } from "../../jsonrpc/raw-object.js";
import { isAtLeast } from "../../model/era.js";
import { toFailed } from "../../model/failure.js";
import { INPUT_METHODS, mayRequireInput } from "../../model/input-request.js";
import { wireError } from "../../model/wire-error.js";
import { allowsBatches, readBatch } from "../../wire/legacy/batch.js";
import type { CallOutlet } from "../call-outlet.js";
import type { Handshake } from "../legacy-handshake.js";
import type { LegacySessionDeps } from "../legacy-session.js";
import type { Sender } from "../modern-request.js";
import { refuseHttp } from "./error-reply.js";
import { openEventConnection } from "./event-connection.js";
import { createEventLog, type LoggedStream, type Since } from "./event-log.js";
import type { Inbound } from "./inbound.js";
import { createPostReply } from "./post-reply.js";
import type { ReplayBudget } from "./replay-budget.js";

/** A legacy session over Streamable HTTP, with the streams that belong to it. */
export interface HttpSession {
  /** Answers the POST that opens the session; tells whether it did. */
  open(message: RequestMessage, outlet: CallOutlet, sender: Sender): void;
  readonly handshake: Handshake | undefined;
  /** Takes a POST of the open session. */
  post(inbound: Inbound): void;
  /** Answers a GET: the stream for what belongs to no call, or one that was cut. */
  listen(inbound: Inbound): void;
  /** Something is under way or listened to. */
  readonly busy: boolean;
  /** What waits for an answer gets an error when the bridge shuts down, and nothing otherwise. */
  close(why: "ended" | "shutdown"): void;
}

export interface HttpSessionDeps extends LegacySessionDeps {
  readonly budget: ReplayBudget;
  readonly sameResource?: boolean | undefined;
}

const CAPABILITY: Readonly<Record<(typeof INPUT_METHODS)[number], string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** `opened`: another instance has opened the session, with this handshake. */
export function createHttpSession(
  deps: HttpSessionDeps,
  sender: Sender,
  opened?: Handshake,
): HttpSession {
  const log = createEventLog(deps);
  let shuttingDown = false;
  const aside = log.open("aside");
  const front = deps.openFront({ sender, aside: aside.write, opened });

  /** Can the server ask in the middle of such a request? */
  const mayAsk = (method: string): boolean => {
    const capabilities = front.handshake?.capabilities;
    return (
      mayRequireInput(method) &&
      INPUT_METHODS.some((asked) => isObjectText(memberAt(capabilities, CAPABILITY[asked])))
    );
  };

  /** Clients before 2025-11-25 read an event without data as broken JSON. */
  const primes = (): boolean => {
    const revision = front.handshake?.revision;
    return revision !== undefined && isAtLeast(revision, "2025-11-25");
  };

  const replyTo = (
    { request, reply, gone }: Inbound,
    requests: number,
    eager: boolean,
    batch = false,
  ) =>
    createPostReply(deps, {
      reply,
      gone,
      log,
      requests,
      batch,
      // A server that refuses credentials has an HTTP status for it only before the stream.
      eager: eager && deps.sameResource !== true,
      streams: takesEvents(request.headers["accept"]),
      primes: primes(),
    });

  const answering = (outlet: CallOutlet, id: RequestId): CallOutlet => ({
    ...outlet,
    abandon() {
      if (shuttingDown) outlet.answer(errorText(id, SHUTDOWN.error.text));
      else outlet.abandon();
    },
  });

  /** `outlet` is there for what gets an answer. */
  const take = (
    message: Message | Malformed,
    outlet: CallOutlet | undefined,
    from: Sender,
  ): void => {
    switch (message.type) {
      case "notification":
        front.notification(message);
        return;
      case "response":
      case "error":
        // Accepted whatever it answers: the client has done its part.
        front.response(message);
        return;
      case "request":
        if (outlet !== undefined) front.request(message, answering(outlet, message.id), from);
        return;
      case "malformed":
        outlet?.answer(errorText(message.id, wireError(message.code, message.reason).text));
    }
  };

  const postBatch = (inbound: Inbound, { elements }: BatchMessage): void => {
    if (!allowsBatches(front.handshake?.revision)) {
      refuseHttp(inbound.reply, 400, "the revision of this session has no batches");
      return;
    }
    const messages = readBatch(elements);
    const asked = messages.filter(({ type }) => type === "request" || type === "malformed").length;
    const eager = messages.some((message) => message.type === "request" && mayAsk(message.method));
    const outlet = asked > 0 ? replyTo(inbound, asked, eager, true) : undefined;
    if (outlet === undefined) inbound.reply.send(202, {}, "");
    for (const message of messages) take(message, outlet, inbound.sender);
  };

  const show = (
    { reply, gone }: Inbound,
    stream: LoggedStream,
    since: Since,
    place: string,
  ): void => {
    const connection = openEventConnection(deps, reply, gone, () => stream.detach(connection));
    if (primes()) connection.prime(place, deps.limits.resumePauseMs);
    stream.attach(connection, since);
  };

  return {
    open: front.request,
    get handshake() {
      return front.handshake;
    },
    post(inbound) {
      const { message, reply, sender: from } = inbound;
      switch (message?.type) {
        case "request":
          take(message, replyTo(inbound, 1, mayAsk(message.method)), from);
          return;
        case "batch":
          postBatch(inbound, message);
          return;
        case "notification":
        case "response":
        case "error":
          take(message, undefined, from);
          reply.send(202, {}, "");
          return;
        default:
          refuseHttp(reply, 400, "the body is no message");
      }
    },
    listen(inbound) {
      const { reply, request } = inbound;
      if (!takesEvents(request.headers["accept"])) {
        refuseHttp(reply, 406, "the client must accept text/event-stream");
        return;
      }
      const lastId = request.headers["last-event-id"];
      const place = lastId === undefined ? undefined : log.find(lastId);
      if (place?.exhausted === true) {
        // The one status that tells readers of event streams not to come back.
        reply.send(204, {}, "");
      } else if (place !== undefined && lastId !== undefined) {
        show(inbound, place.stream, place.since, lastId);
      } else if (lastId === undefined || log.isAside(lastId)) {
        show(inbound, aside, "unseen", aside.placeId);
      } else refuseHttp(reply, 400, "the event id is unknown, or its stream is no longer kept");
    },
    get busy() {
      return front.openCalls > 0 || log.attached > 0;
    },
    close(why) {
      shuttingDown = why === "shutdown";
      front.close();
      log.close();
    },
  };
}

const SHUTDOWN = toFailed(new BridgeError("closed", "the bridge is shutting down"));

function takesEvents(accept: string | undefined): boolean {
  return accept === undefined || /text\/event-stream|text\/\*|\*\/\*/i.test(accept);
}
