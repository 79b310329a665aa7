import { BridgeError } from "../errors.js";
import type { CallOutlet } from "../front/call-outlet.js";
import type { InFlight } from "../front/in-flight.js";
import { type Handshake, readHandshake } from "../front/legacy-handshake.js";
import type { LegacyFront, LegacyFrontOptions } from "../front/legacy-session.js";
import { requestKey } from "../front/request-key.js";
import { createDraft } from "../jsonrpc/draft.js";
import { INVALID_REQUEST } from "../jsonrpc/error-codes.js";
import { asString, type JsonText } from "../jsonrpc/json-text.js";
import {
  type ErrorMessage,
  errorText,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Principal } from "../model/caller.js";
import { isLegacyRevision } from "../model/era.js";
import { toFailed } from "../model/failure.js";
import { wireError } from "../model/wire-error.js";
import type { Journal } from "../ports/journal.js";
import type { Link, LinkLoss } from "../upstream/link.js";

export interface CoupledSessionDeps {
  /** The conversation that this session alone uses; not started yet. */
  readonly link: Link;
  readonly inFlight: InFlight;
  readonly journal: Journal;
  readonly upstreamName: string;
}

/** A request of the client at the server. */
interface Open {
  readonly id: RequestId;
  readonly outlet: CallOutlet;
  readonly principal: Principal;
  readonly token: JsonText | undefined;
  readonly isHandshake: boolean;
}

/** A request of the server at the client. */
interface Asked {
  readonly id: RequestId;
  readonly token: JsonText | undefined;
  readonly outlet: CallOutlet | undefined;
}

const TOKEN_PATH = ["_meta", "progressToken"] as const;

/** The message with the id, and where it has one the progress token, of the next hop. */
function reminted({ raw, params }: RequestMessage, id: number): JsonText {
  const draft = createDraft(raw);
  draft.set("id", `${id}`);
  if (memberAt(params, ...TOKEN_PATH) !== undefined) {
    draft.ensureObject("params").ensureObject("_meta").set("progressToken", `${id}`);
  }
  return draft.text();
}

function withParam(message: NotificationMessage, key: string, value: JsonText): JsonText {
  const draft = createDraft(message.raw);
  draft.ensureObject("params").set(key, value);
  return draft.text();
}

function withId(message: ResponseMessage | ErrorMessage, id: RequestId): JsonText {
  const draft = createDraft(message.raw);
  draft.set("id", id);
  return draft.text();
}

/**
 * A legacy client and a legacy server of its own, message by message in both directions: nothing is
 * translated, only ids and progress tokens are this hop's, so that whatever the two have between them
 * (requests outside a call, tasks, methods of their own) works as without a bridge.
 */
export function createCoupledSession(
  deps: CoupledSessionDeps,
  options: LegacyFrontOptions,
): LegacyFront {
  const { journal, upstreamName, inFlight, link } = deps;
  const open = new Map<number, Open>();
  /** Ids of the client's open requests, for its cancellations. */
  const numbers = new Map<string, number>();
  const asked = new Map<number, Asked>();
  let handshake: Handshake | undefined;
  let revision: string | undefined;
  let nextId = 1;
  let nextAsked = 1;
  let whenIdle: (() => void) | undefined;
  let over = false;

  const forget = (number: number): Open | undefined => {
    const entry = open.get(number);
    if (entry === undefined) return undefined;
    open.delete(number);
    numbers.delete(requestKey(entry.id));
    inFlight.leave(entry.principal);
    if (open.size === 0) whenIdle?.();
    return entry;
  };

  const fail = (number: number, error: unknown): void => {
    const entry = forget(number);
    entry?.outlet.answer(errorText(entry.id, toFailed(error).error.text));
  };

  const answered = (message: ResponseMessage | ErrorMessage): void => {
    const entry = message.id === undefined ? undefined : forget(Number(message.id));
    if (entry === undefined) {
      journal.debug("late-answer-dropped", { upstream: upstreamName });
      return;
    }
    if (entry.isHandshake && message.type === "response") {
      const negotiated = asString(memberAt(message.result, "protocolVersion"));
      revision = negotiated;
      if (handshake !== undefined && isLegacyRevision(negotiated)) {
        handshake = { ...handshake, revision: negotiated };
      }
    }
    entry.outlet.answer(withId(message, entry.id));
  };

  /** Where a message of the server goes: to the call it came with, else beside all calls. */
  const wayOf = (origin: number | undefined): ((text: JsonText) => void) => {
    const entry = origin === undefined ? undefined : open.get(origin);
    return entry === undefined ? options.aside : (text) => entry.outlet.send(text);
  };

  const fromServer = (message: Message, origin: number | undefined): void => {
    switch (message.type) {
      case "response":
      case "error":
        answered(message);
        return;
      case "request": {
        const number = nextAsked++;
        const outlet = origin === undefined ? undefined : open.get(origin)?.outlet;
        asked.set(number, {
          id: message.id,
          token: memberAt(message.params, ...TOKEN_PATH),
          outlet,
        });
        wayOf(origin)(reminted(message, number));
        return;
      }
      case "notification":
        notified(message, origin);
    }
  };

  const notified = (message: NotificationMessage, origin: number | undefined): void => {
    if (message.method === "notifications/progress") {
      const entry = open.get(Number(memberAt(message.params, "progressToken")));
      if (entry?.token === undefined) return;
      entry.outlet.send(withParam(message, "progressToken", entry.token));
      return;
    }
    if (message.method === "notifications/cancelled") {
      const id = memberAt(message.params, "requestId");
      for (const [number, entry] of asked) {
        if (id === undefined || requestKey(entry.id) !== requestKey(id)) continue;
        asked.delete(number);
        (entry.outlet?.send ?? options.aside)(withParam(message, "requestId", `${number}`));
      }
      return;
    }
    wayOf(origin)(message.raw.text);
  };

  const lost = (number: number, { kind, detail }: LinkLoss): void => {
    const code = kind === "broken" ? "upstream-lost" : "upstream-unavailable";
    const uncertain = kind === "broken" ? "; the operation may have completed" : "";
    fail(number, new BridgeError(code, `${upstreamName}: ${detail}${uncertain}`));
  };

  const refuse = ({ id }: RequestMessage, outlet: CallOutlet, reason: string): void =>
    outlet.answer(errorText(id, wireError(INVALID_REQUEST, reason).text));

  const cancel = (message: NotificationMessage): void => {
    const id = memberAt(message.params, "requestId");
    const number = id === undefined ? undefined : numbers.get(requestKey(id));
    if (number === undefined) return;
    const entry = forget(number);
    const reason = asString(memberAt(message.params, "reason")) ?? "the client cancelled";
    link.cancel(number, reason);
    entry?.outlet.abandon();
  };

  const close = (): void => {
    if (over) return;
    over = true;
    for (const number of [...open.keys()]) {
      link.cancel(number, "the client's session has ended");
      forget(number)?.outlet.abandon();
    }
    void link.close();
  };

  link.start({ message: fromServer, lost, closed: close });

  return {
    request(message, outlet, sender) {
      const isHandshake = message.method === "initialize";
      if (over) outlet.abandon();
      else if (!isHandshake && handshake === undefined) {
        refuse(message, outlet, "the session is not initialized");
      } else if (numbers.has(requestKey(message.id))) {
        refuse(message, outlet, "a request with this id is in flight");
      } else if (!inFlight.enter(sender.principal)) {
        refuse(message, outlet, "too many requests in flight");
      } else {
        if (isHandshake) {
          const read = readHandshake(message.params);
          if (!("code" in read)) handshake = read;
        }
        const number = nextId++;
        const token = memberAt(message.params, ...TOKEN_PATH);
        open.set(number, {
          id: message.id,
          outlet,
          principal: sender.principal,
          token,
          isHandshake,
        });
        numbers.set(requestKey(message.id), number);
        link.request({ id: number, method: message.method, text: reminted(message, number) });
      }
    },
    notification(message) {
      if (message.method === "notifications/cancelled") {
        cancel(message);
        return;
      }
      if (message.method === "notifications/progress") {
        const token = asked.get(Number(memberAt(message.params, "progressToken")))?.token;
        if (token !== undefined) link.send(withParam(message, "progressToken", token));
        return;
      }
      link.send(message.raw.text);
      if (message.method === "notifications/initialized" && revision !== undefined) {
        void link.established(revision);
      }
    },
    response(message) {
      const number = Number(message.id);
      const question = asked.get(number);
      if (message.id === undefined || question === undefined) {
        journal.debug("stray-answer-dropped");
        return;
      }
      asked.delete(number);
      link.send(withId(message, question.id));
    },
    get handshake() {
      return revision === undefined ? undefined : handshake;
    },
    get openCalls() {
      return open.size;
    },
    drain() {
      if (open.size === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
    },
    close,
  };
}
