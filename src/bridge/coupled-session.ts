import type { BridgeError } from "../errors.js";
import type { CallOutlet } from "../front/call-outlet.js";
import type { InFlight } from "../front/in-flight.js";
import { type Handshake, readHandshake } from "../front/legacy-handshake.js";
import type { LegacyFront, LegacyFrontOptions } from "../front/legacy-session.js";
import type { Sender } from "../front/modern-request.js";
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
import { isLegacyRevision, NEWEST_LEGACY } from "../model/era.js";
import { toFailed } from "../model/failure.js";
import type { Limits } from "../model/limits.js";
import { PROGRESS } from "../model/notice.js";
import { wireError } from "../model/wire-error.js";
import type { Clock } from "../ports/clock.js";
import type { Journal } from "../ports/journal.js";
import { CANCELLED } from "../translation/cancellation.js";
import type { Deadlines } from "../upstream/deadlines.js";
import { isUnprocessed, toBridgeError } from "../upstream/exchange.js";
import type { LinkLoss } from "../upstream/link.js";
import { type ClientCall, createClientCalls } from "./client-calls.js";
import type { Gauge } from "./gauge.js";
import { createQuestions } from "./questions.js";
import { createTaskTokens, numberOf, withId, withNumber, withParam } from "./reminting.js";
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
  /** The server has agreed to a handshake. */
  readonly agreed: () => void;
  /**
   * Takes over a request that the server did not touch, while no handshake is agreed; false where
   * nobody else can serve it.
   */
  readonly handOver: (message: RequestMessage, outlet: CallOutlet, sender: Sender) => boolean;
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
  const { journal, upstreamName, link, limits } = deps;
  const questions = createQuestions(limits.maxInFlightPerPrincipal);
  const tasks = createTaskTokens(limits.maxInFlightPerPrincipal);
  const calls = createClientCalls({
    ...deps,
    waitsForClient: () => questions.size > 0,
    expired(call) {
      journal.warn("request-timed-out", { upstream: upstreamName, method: call.method });
      link.cancel(call.number, "timeout");
      fail(call, toBridgeError({ kind: "timeout", detail: call.method }, upstreamName));
    },
  });
  let handshake: Handshake | undefined;
  let begun = false;
  /** The client answers nothing more. */
  let deaf = false;
  let over = false;

  const fail = ({ id, outlet }: ClientCall, error: BridgeError): void =>
    outlet.answer(errorText(id, toFailed(error).error.text), error.challenge);

  const agree = ({ message }: ClientCall, result: JsonText): void => {
    const read = readHandshake(message?.params);
    const asked = "code" in read ? NOTHING_SAID : read;
    const spoken = asString(memberAt(result, "protocolVersion"));
    handshake = isLegacyRevision(spoken) ? { ...asked, revision: spoken } : asked;
    const { revision } = handshake;
    deps.agreed();
    journal.info("session-opened", { upstream: upstreamName, coupled: true, revision });
  };

  const answered = (message: ResponseMessage | ErrorMessage): void => {
    const call = calls.take(Number(message.id));
    if (call === undefined) {
      journal.debug("late-answer-dropped", { upstream: upstreamName });
      return;
    }
    if (message.type === "response") {
      if (call.method === "initialize") agree(call, message.result);
      if (call.mayBecomeTask && call.token !== undefined) tasks.keep(call.number, call.token);
    }
    call.outlet.answer(withId(message, call.id));
  };

  /** The call a message belongs to, as far as that can be known. */
  const callOf = (origin: number | undefined): number | undefined =>
    origin !== undefined || link.associates ? origin : calls.newestAsking();

  /** To the client: with the call while that is open, else beside all calls. */
  const tell = (text: JsonText, call: number | undefined): void => {
    const open = call === undefined ? undefined : calls.get(call);
    if (open === undefined) options.aside(text);
    else open.outlet.send(text);
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
    const token = calls.get(number)?.token ?? tasks.of(number);
    if (token === undefined) {
      journal.debug("progress-dropped", { upstream: upstreamName });
      return;
    }
    calls.progressed(number);
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
    const call = calls.take(number);
    if (call === undefined) return;
    const { message, outlet, sender } = call;
    // Refused credentials say nothing about the era.
    const untouched =
      handshake === undefined && isUnprocessed(loss) && loss.kind !== "unauthorized";
    const handed = untouched && message !== undefined && deps.handOver(message, outlet, sender);
    if (!handed) fail(call, toBridgeError(loss, upstreamName));
  };

  const refuse = ({ id }: RequestMessage, outlet: CallOutlet, reason: string): void =>
    outlet.answer(errorText(id, wireError(INVALID_REQUEST, reason).text));

  const cancel = (message: NotificationMessage): void => {
    const id = memberAt(message.params, "requestId");
    const number = id === undefined ? undefined : calls.numberOf(id);
    if (number === undefined) return;
    const words = withParam(message, "requestId", `${number}`);
    link.cancel(number, "the client cancelled", words);
    calls.take(number)?.outlet.abandon();
  };

  const pass = (message: RequestMessage, outlet: CallOutlet, sender: Sender): void => {
    const opens = message.method === "initialize";
    const call = calls.add(message, outlet, sender, opens || handshake === undefined);
    if (typeof call === "string") {
      refuse(message, outlet, call);
      return;
    }
    begun ||= opens;
    const { number, method } = call;
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
      return calls.size;
    },
    drain() {
      deaf = true;
      for (const id of questions.abandonAll()) refuseServer(id);
      return calls.idle();
    },
    close() {
      if (over) return;
      over = true;
      for (const { number, outlet } of calls.takeAll()) {
        link.cancel(number, "the client's session has ended");
        outlet.abandon();
      }
      if (handshake !== undefined) {
        journal.info("session-ended", { upstream: upstreamName, coupled: true });
      }
      void link.close();
    },
  };
}

/** Of a client whose handshake only the server understood. */
const NOTHING_SAID: Handshake = {
  revision: NEWEST_LEGACY,
  capabilities: "{}",
  identity: undefined,
};
