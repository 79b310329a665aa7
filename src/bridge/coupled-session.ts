import type { BridgeError } from "../errors.js";
import type { CallOutlet } from "../front/call-outlet.js";
import type { InFlight } from "../front/in-flight.js";
import { type Handshake, readHandshake } from "../front/legacy-handshake.js";
import type { LegacyFront, LegacyFrontOptions } from "../front/legacy-session.js";
import type { Sender } from "../front/modern-request.js";
import { requestKey } from "../front/request-key.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../jsonrpc/error-codes.js";
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
import { isLegacyRevision, NEWEST_LEGACY } from "../model/era.js";
import { toFailed } from "../model/failure.js";
import { mayRequireInput } from "../model/input-request.js";
import type { Limits } from "../model/limits.js";
import { PROGRESS } from "../model/notice.js";
import { wireError } from "../model/wire-error.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { CANCELLED } from "../translation/cancellation.js";
import type { Deadlines, Timed } from "../upstream/deadlines.js";
import { isUnprocessed, toBridgeError } from "../upstream/exchange.js";
import type { LinkLoss } from "../upstream/link.js";
import type { Gauge } from "./gauge.js";
import { createQuestions } from "./questions.js";
import {
  asksForTask,
  createTaskTokens,
  numberOf,
  tokenOf,
  withId,
  withNumber,
  withParam,
} from "./reminting.js";
import type { RenewedLink } from "./renewed-link.js";

export interface CoupledSessionDeps {
  /** The conversations that this session alone uses; not started yet. */
  readonly link: RenewedLink;
  readonly inFlight: InFlight;
  readonly gauge: Gauge;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly upstreamName: string;
  /**
   * Takes over a request that the server did not touch, while no handshake is agreed; false where
   * nobody else can serve it.
   */
  readonly handOver: (message: RequestMessage, outlet: CallOutlet, sender: Sender) => boolean;
}

/** A request of the client at the server. */
interface Open extends Timed {
  readonly id: RequestId;
  readonly method: string;
  readonly outlet: CallOutlet;
  readonly principal: Principal;
  readonly token: JsonText | undefined;
  readonly mayBecomeTask: boolean;
  readonly ceilingAt: number;
  readonly leave: () => void;
  /** What a handshake settles when it is accepted. */
  readonly handshake: Handshake | undefined;
  /** Kept until a handshake is agreed: it may have to be handed over. */
  readonly whole: { readonly message: RequestMessage; readonly sender: Sender } | undefined;
}

/** What a server asks on behalf of, where the transport does not say. */
function mayAsk(method: string): boolean {
  return mayRequireInput(method) || method === "tasks/result";
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
  const { journal, upstreamName, inFlight, link, limits, clock, deadlines } = deps;
  const open = new Map<number, Open>();
  /** Numbers of the client's open requests, for its cancellations. */
  const numbers = new Map<string, number>();
  const questions = createQuestions(limits.maxInFlightPerPrincipal);
  const tasks = createTaskTokens(limits.maxInFlightPerPrincipal);
  const whenIdle = new Set<() => void>();
  let handshake: Handshake | undefined;
  let begun = false;
  let lastNumber = 0;
  /** The client answers nothing more. */
  let deaf = false;
  let over = false;

  const forget = (number: number): Open | undefined => {
    const entry = open.get(number);
    if (entry === undefined) return undefined;
    open.delete(number);
    numbers.delete(requestKey(entry.id));
    deadlines.forget(entry);
    inFlight.leave(entry.principal);
    entry.leave();
    if (open.size > 0) return entry;
    for (const resolve of whenIdle) resolve();
    whenIdle.clear();
    return entry;
  };

  const answerFailure = ({ id, outlet }: Open, error: BridgeError): void =>
    outlet.answer(errorText(id, toFailed(error).error.text), error.challenge);

  const expire = (number: number, entry: Open): void => {
    const now = clock.now();
    if (questions.size > 0 && now < entry.ceilingAt) {
      // The server waits for a person.
      entry.dueAt = Math.min(now + limits.requestTimeoutMs, entry.ceilingAt);
      deadlines.watch(entry);
      return;
    }
    journal.warn("request-timed-out", { upstream: upstreamName, method: entry.method });
    link.cancel(number, "timeout");
    forget(number);
    answerFailure(entry, toBridgeError({ kind: "timeout", detail: entry.method }, upstreamName));
  };

  const agree = (accepted: Handshake | undefined, result: JsonText): void => {
    const spoken = asString(memberAt(result, "protocolVersion"));
    const revision = isLegacyRevision(spoken) ? spoken : (accepted?.revision ?? NEWEST_LEGACY);
    handshake = { capabilities: "{}", identity: undefined, ...accepted, revision };
    journal.info("session-opened", { upstream: upstreamName, coupled: true, revision });
  };

  const answered = (message: ResponseMessage | ErrorMessage): void => {
    const number = Number(message.id);
    const entry = forget(number);
    if (entry === undefined) {
      journal.debug("late-answer-dropped", { upstream: upstreamName });
      return;
    }
    if (message.type === "response") {
      if (entry.method === "initialize") agree(entry.handshake, message.result);
      if (entry.mayBecomeTask && entry.token !== undefined) tasks.keep(number, entry.token);
    }
    entry.outlet.answer(withId(message, entry.id));
  };

  /** The call a message belongs to, as far as that can be known. */
  const callOf = (origin: number | undefined): number | undefined => {
    if (origin !== undefined || link.associates) return origin;
    let newest: number | undefined;
    for (const [number, { method }] of open) if (mayAsk(method)) newest = number;
    return newest;
  };

  /** To the client: with the call while that is open, else beside all calls. */
  const tell = (text: JsonText, call: number | undefined): void => {
    const entry = call === undefined ? undefined : open.get(call);
    if (entry === undefined) options.aside(text);
    else entry.outlet.send(text);
  };

  const asked = (message: RequestMessage, origin: number | undefined): void => {
    const call = callOf(origin);
    const text = deaf ? undefined : questions.ask(message, call);
    if (text !== undefined) tell(text, call);
    else refuseServer(message.id);
  };

  const refuseServer = (id: RequestId): void => {
    const reason = deaf ? "the client answers nothing more" : "too many requests are open";
    link.reply(errorText(id, wireError(INTERNAL_ERROR, reason).text));
  };

  const progressed = (message: NotificationMessage): void => {
    const number = numberOf(memberAt(message.params, "progressToken"));
    const entry = open.get(number);
    const token = entry?.token ?? tasks.of(number);
    if (token === undefined) {
      journal.debug("progress-dropped", { upstream: upstreamName });
      return;
    }
    if (entry !== undefined) {
      entry.dueAt = Math.min(clock.now() + limits.requestTimeoutMs, entry.ceilingAt);
    }
    tell(withParam(message, "progressToken", token), number);
  };

  const notified = (message: NotificationMessage, origin: number | undefined): void => {
    if (message.method === PROGRESS) progressed(message);
    else if (message.method === CANCELLED) {
      const withdrawal = questions.withdraw(message);
      if (withdrawal !== undefined) tell(withdrawal.text, withdrawal.via);
    } else {
      const belongs = message.method === "notifications/message";
      tell(message.raw.text, belongs ? callOf(origin) : origin);
    }
  };

  const fromServer = (message: Message, origin: number | undefined): void => {
    switch (message.type) {
      case "response":
      case "error":
        answered(message);
        return;
      case "request":
        asked(message, origin);
        return;
      case "notification":
        notified(message, origin);
    }
  };

  const lost = (number: number, loss: LinkLoss): void => {
    const entry = forget(number);
    if (entry === undefined) return;
    const { whole, outlet } = entry;
    // Refused credentials say nothing about the era.
    const untouched =
      handshake === undefined && isUnprocessed(loss) && loss.kind !== "unauthorized";
    const handed = untouched && whole && deps.handOver(whole.message, outlet, whole.sender);
    if (!handed) answerFailure(entry, toBridgeError(loss, upstreamName));
  };

  const refuse = ({ id }: RequestMessage, outlet: CallOutlet, reason: string): void =>
    outlet.answer(errorText(id, wireError(INVALID_REQUEST, reason).text));

  const cancel = (message: NotificationMessage): void => {
    const id = memberAt(message.params, "requestId");
    const number = id === undefined ? undefined : numbers.get(requestKey(id));
    if (number === undefined) return;
    const words = withParam(message, "requestId", `${number}`);
    link.cancel(number, "the client cancelled", words);
    forget(number)?.outlet.abandon();
  };

  const pass = (message: RequestMessage, outlet: CallOutlet, sender: Sender): void => {
    const number = ++lastNumber;
    const { id, method } = message;
    const opens = method === "initialize";
    const read = opens ? readHandshake(message.params) : undefined;
    const now = clock.now();
    const entry: Open = {
      id,
      method,
      outlet,
      principal: sender.principal,
      token: tokenOf(message),
      mayBecomeTask: asksForTask(message),
      leave: deps.gauge.enter(),
      handshake: read === undefined || "code" in read ? undefined : read,
      whole: handshake === undefined ? { message, sender } : undefined,
      dueAt: now + (opens ? limits.startTimeoutMs : limits.requestTimeoutMs),
      ceilingAt: now + limits.requestCeilingMs,
      expire: () => expire(number, entry),
    };
    begun ||= opens;
    open.set(number, entry);
    numbers.set(requestKey(id), number);
    deadlines.watch(entry);
    link.request({ id: number, method, text: withNumber(message, number) });
  };

  link.start({
    message: fromServer,
    lost,
    forgotten() {
      for (const { text, via } of questions.withdrawAll()) tell(text, via);
    },
  });

  return {
    request(message, outlet, sender) {
      if (over) outlet.abandon();
      else if (!begun && message.method !== "initialize" && message.method !== "ping") {
        refuse(message, outlet, "the session is not initialized");
      } else if (numbers.has(requestKey(message.id))) {
        refuse(message, outlet, "a request with this id is in flight");
      } else if (!inFlight.enter(sender.principal)) {
        refuse(message, outlet, "too many requests in flight");
      } else pass(message, outlet, sender);
    },
    notification(message) {
      if (message.method === CANCELLED) cancel(message);
      else if (message.method === "notifications/initialized") link.initialized(message.raw.text);
      else if (message.method === PROGRESS) {
        const text = questions.progress(message);
        if (text !== undefined) link.reply(text);
      } else link.notify(message.raw.text);
    },
    response(message) {
      const text = questions.answer(message);
      if (text !== undefined) link.reply(text);
      else journal.debug("stray-answer-dropped");
    },
    get handshake() {
      return handshake;
    },
    get openCalls() {
      return open.size;
    },
    drain() {
      deaf = true;
      for (const id of questions.abandonAll()) refuseServer(id);
      if (open.size === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        whenIdle.add(resolve);
      });
    },
    close() {
      if (over) return;
      over = true;
      for (const number of [...open.keys()]) {
        link.cancel(number, "the client's session has ended");
        forget(number)?.outlet.abandon();
      }
      if (handshake !== undefined) {
        journal.info("session-ended", { upstream: upstreamName, coupled: true });
      }
      void link.close();
    },
  };
}
