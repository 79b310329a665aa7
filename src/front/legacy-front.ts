import { INVALID_REQUEST } from "../jsonrpc/error-codes.js";
import {
  errorText,
  type NotificationMessage,
  type RequestMessage,
  resultText,
} from "../jsonrpc/message.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import type { Advertisement } from "../model/advertisement.js";
import type { Caller } from "../model/caller.js";
import { toFailed } from "../model/failure.js";
import { wireError } from "../model/wire-error.js";
import { PONG } from "../translation/liveness.js";
import { lowerAdvertisement } from "../translation/lower-advertisement.js";
import { declaresTasks, withTasks } from "../translation/tasks.js";
import { clientNotificationMembership } from "../wire/classify.js";
import { answerFailed, type CallOutlet } from "./call-outlet.js";
import type { LegacyFrontDeps } from "./legacy-deps.js";
import { readHandshake } from "./legacy-handshake.js";
import { createLegacyRequests } from "./legacy-requests.js";
import type { LegacyFront, LegacyFrontOptions } from "./legacy-session.js";
import { createLegacyAutomaton } from "./legacy-state.js";
import { createLegacyWatches } from "./legacy-watches.js";
import { createReverseRequests } from "./reverse-requests.js";

/** Ids of questions that another instance asked in the same session must not meet ours. */
const RESUMED_FIRST_ID = 1_000_000;

export function createLegacyFront(deps: LegacyFrontDeps, options: LegacyFrontOptions): LegacyFront {
  const { service, clock, journal, limits } = deps;
  const automaton = createLegacyAutomaton(options.opened === undefined ? "new" : "ready");
  const life = new AbortController();
  let sender = options.sender;
  let handshake = options.opened;
  let advertisement: Advertisement | undefined;
  /** Requests that came while the handshake was under way. */
  let held: { readonly message: RequestMessage; readonly outlet: CallOutlet }[] = [];

  const caller = (): Caller => {
    const capabilities = handshake?.capabilities ?? "{}";
    const tasks = advertisement !== undefined && declaresTasks(advertisement.capabilities);
    return {
      ...sender,
      identity: handshake?.identity,
      capabilities: tasks ? withTasks(capabilities) : capabilities,
    };
  };

  const watches = createLegacyWatches({
    ...deps,
    caller,
    // A client that has asked for nothing yet has nothing that could have changed.
    aside: (text) => {
      if (automaton.state === "ready") options.aside(text);
    },
  });
  const firstId =
    options.opened === undefined ? 1 : RESUMED_FIRST_ID + (clock.now() % 1_000_000_000);
  const reverse = createReverseRequests({ clock, journal, limits, firstId });

  const advertise = async (): Promise<readonly ("tools" | "prompts" | "resources")[]> => {
    advertisement = await service.describe(caller(), life.signal);
    return watches.watchLists(advertisement);
  };
  /** What a session that was opened elsewhere has to find out again. */
  const resumed =
    options.opened === undefined
      ? undefined
      : advertise().then(
          () => undefined,
          (error: unknown) => {
            const reason = error instanceof Error ? error.message : "unknown";
            journal.warn("session-resumed-blind", { reason });
          },
        );

  const requests = createLegacyRequests(deps, {
    reverse,
    watches,
    caller,
    advertisement: () => advertisement,
    ready: resumed,
    seenElsewhere: options.opened !== undefined,
  });

  const refuse = ({ id }: RequestMessage, outlet: CallOutlet, reason: string): void =>
    outlet.answer(errorText(id, wireError(INVALID_REQUEST, reason).text));

  const serve = (message: RequestMessage, outlet: CallOutlet): void => {
    if (handshake !== undefined) requests.serve(message, outlet, handshake.revision);
  };

  const releaseHeld = (): void => {
    const released = held;
    held = [];
    for (const { message, outlet } of released) dispatch(message, outlet);
  };

  const open = async (message: RequestMessage, outlet: CallOutlet): Promise<void> => {
    const read = readHandshake(message.params);
    try {
      if ("code" in read) {
        automaton.on("rejected");
        outlet.answer(errorText(message.id, read.text));
        return;
      }
      handshake = read;
      const unheard = await advertise();
      if (life.signal.aborted || advertisement === undefined) return;
      const { upstreamName } = deps;
      const context = { revision: read.revision, upstreamName, unheard };
      automaton.on("accepted");
      outlet.answer(resultText(message.id, lowerAdvertisement(advertisement, context)));
    } catch (error) {
      handshake = undefined;
      automaton.on("rejected");
      answerFailed(message, outlet, toFailed(error));
    } finally {
      if (life.signal.aborted) outlet.abandon();
      else releaseHeld();
    }
  };

  const dispatch = (message: RequestMessage, outlet: CallOutlet): void => {
    if (message.method === "ping" && automaton.state !== "closed") {
      outlet.answer(resultText(message.id, PONG));
      return;
    }
    switch (automaton.on(message.method === "initialize" ? "initialize" : "request")) {
      case "handshake":
        void open(message, outlet);
        return;
      case "serve":
        serve(message, outlet);
        return;
      case "hold":
        if (held.length >= limits.maxInFlightPerPrincipal)
          refuse(message, outlet, "too many requests");
        else held.push({ message, outlet });
        return;
      case "refuse-uninitialized":
        refuse(message, outlet, "the session is not initialized");
        return;
      case "refuse-second-handshake":
        refuse(message, outlet, "the session is initialized already");
        return;
      case "none":
        outlet.abandon();
        return;
    }
  };

  const cancel = (message: NotificationMessage): void => {
    const id = memberAt(message.params, "requestId");
    if (id === undefined || requests.cancel(id)) return;
    const waiting = held.filter((entry) => entry.message.id === id);
    held = held.filter((entry) => entry.message.id !== id);
    for (const { outlet } of waiting) outlet.abandon();
  };

  const forward = ({ method, params }: NotificationMessage): void => {
    if (!deps.forwardUnknown || clientNotificationMembership(method) !== "unknown") return;
    if (handshake !== undefined) service.notify(method, params, caller());
  };

  return {
    request(message, outlet, from) {
      sender = from;
      dispatch(message, outlet);
    },
    notification(message) {
      switch (message.method) {
        case "notifications/initialized":
          automaton.on("initialized");
          return;
        case "notifications/cancelled":
          cancel(message);
          return;
        case "notifications/progress":
          reverse.progressed(message);
          return;
        default:
          // A modern server asks for roots anew in each call: it has no use for their changes.
          forward(message);
      }
    },
    response(message) {
      if (!reverse.take(message)) journal.debug("stray-answer-dropped");
    },
    get handshake() {
      return automaton.state === "opened" || automaton.state === "ready" ? handshake : undefined;
    },
    get openCalls() {
      return requests.size;
    },
    drain() {
      reverse.refuseAll("the client sends nothing more");
      return requests.whenIdle();
    },
    close() {
      if (automaton.state === "closed") return;
      automaton.on("close");
      requests.cancelAll();
      life.abort();
      watches.close();
      for (const { outlet } of held.splice(0)) outlet.abandon();
    },
  };
}
