import { createGauge, type Gauge } from "../../src/bridge/gauge.js";
import { createLegacySessions, type LegacySessions } from "../../src/bridge/legacy-sessions.js";
import { createInFlight } from "../../src/front/in-flight.js";
import type { LegacyFront } from "../../src/front/legacy-session.js";
import { BridgeError, DEFAULT_LIMITS, type Limits, LOCAL_PRINCIPAL } from "../../src/index.js";
import { parseMessage } from "../../src/jsonrpc/message.js";
import type { OpenLink } from "../../src/upstream/era-source.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { createManualClock, type ManualClock, settle } from "../support/manual-clock.js";
import { createScriptedService, type ScriptedService } from "../support/scripted-service.js";
import { createRecordingJournal } from "../upstream/fakes.js";
import { agreement, createFakeLink, type FakeLink, type FakeLinkOptions } from "./fake-link.js";

export const SENDER = {
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
  affinity: undefined,
  authorization: undefined,
};

export const INITIALIZE =
  '{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}';
export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** One session of a legacy client, in front of servers that the test plays. */
export interface CoupledRig {
  readonly sessions: LegacySessions;
  readonly service: ScriptedService;
  readonly clock: ManualClock;
  readonly gauge: Gauge;
  readonly journal: { readonly lines: readonly string[] };
  readonly front: LegacyFront;
  /** The conversations that were opened, in order. */
  readonly links: readonly FakeLink[];
  /** The nth conversation, which must exist. */
  link(index?: number): FakeLink;
  /**
   * The client says something. What comes back for a request is recorded under `name`:
   * `name < text` for what comes with it, `name = text` for its answer, `name gone` for none.
   */
  say(text: string, name?: string): void;
  /** The same in another session of the client. */
  sayTo(front: LegacyFront, text: string, name: string): void;
  /** What the client has received since the last look; `aside < text` belongs to no request. */
  heard(): Promise<string[]>;
  /** Shakes hands with the server's consent and forgets what was said for it. */
  open(capabilities?: string): Promise<FakeLink>;
}

export interface CoupledRigOptions {
  readonly limits?: Partial<Limits>;
  readonly link?: FakeLinkOptions;
  /** Decides what is found behind the bridge; by default a legacy server. */
  readonly find?: (openLink: OpenLink, attempt: number) => Promise<OpenLink | undefined>;
  /** Throws where the server cannot be opened. */
  readonly opening?: (attempt: number) => void;
}

export function createCoupledRig(options: CoupledRigOptions = {}): CoupledRig {
  const clock = createManualClock();
  const gauge = createGauge(clock);
  const journal = createRecordingJournal();
  const scripted = createScriptedService();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const links: FakeLink[] = [];
  const log: string[] = [];
  let opened = 0;
  let looked = 0;
  let seen = 0;

  const openLink: OpenLink = async () => {
    options.opening?.(opened++);
    const link = createFakeLink(options.link);
    links.push(link);
    return link;
  };
  const sessions = createLegacySessions({
    service: scripted.service,
    clock,
    entropy: createCountingEntropy("t"),
    journal,
    limits,
    upstreamName: "upstream",
    forwardUnknown: true,
    inFlight: createInFlight(limits.maxInFlightPerPrincipal),
    gauge,
    spawns: true,
    agreed: () => undefined,
    legacyLinks: () => options.find?.(openLink, looked++) ?? Promise.resolve(openLink),
  });
  const front = sessions.open({ sender: SENDER, aside: (text) => log.push(`aside < ${text}`) });

  const sayTo: CoupledRig["sayTo"] = (front, text, name) => {
    const message = parseMessage(text);
    switch (message.type) {
      case "request":
        front.request(
          message,
          {
            send: (sent) => log.push(`${name} < ${sent}`),
            answer: (answer) => log.push(`${name} = ${answer}`),
            abandon: () => log.push(`${name} gone`),
          },
          SENDER,
        );
        return;
      case "notification":
        front.notification(message);
        return;
      case "response":
      case "error":
        front.response(message);
        return;
      default:
        throw new Error(`no message: ${text}`);
    }
  };

  const say: CoupledRig["say"] = (text, name = "call") => sayTo(front, text, name);

  const link = (index = 0): FakeLink => {
    const found = links.at(index);
    if (found === undefined)
      throw new Error(`there is no conversation ${index} of ${links.length}`);
    return found;
  };

  const heard = async (): Promise<string[]> => {
    await settle();
    const lines = log.slice(seen);
    seen = log.length;
    return lines;
  };

  return {
    sessions,
    service: scripted,
    clock,
    gauge,
    journal,
    front,
    links,
    link,
    say,
    sayTo,
    heard,
    async open(capabilities) {
      say(INITIALIZE, "init");
      await settle();
      link().says(agreement(1, capabilities), 1);
      say(INITIALIZED);
      await heard();
      link().fresh();
      return link();
    },
  };
}

/** What happens where a server cannot be reached. */
export function unreachable(): never {
  throw new BridgeError("upstream-unavailable", "upstream cannot be started");
}
