import { createInFlight } from "../../src/front/in-flight.js";
import { createLegacyChannelFront } from "../../src/front/legacy-channel-front.js";
import type { LegacyFrontDeps } from "../../src/front/legacy-deps.js";
import { createLegacyFront } from "../../src/front/legacy-front.js";
import type { LegacySessionDeps } from "../../src/front/legacy-session.js";
import { DEFAULT_LIMITS, type Journal, type Limits, LOCAL_PRINCIPAL } from "../../src/index.js";
import { parseMessage } from "../../src/jsonrpc/message.js";
import type { Advertisement } from "../../src/model/advertisement.js";
import { createCountingEntropy } from "../support/counting-entropy.js";
import { createManualClock, type ManualClock, settle } from "../support/manual-clock.js";
import { createScriptedService, type ScriptedService } from "../support/scripted-service.js";

const SENDER = {
  principal: LOCAL_PRINCIPAL,
  anonymous: false,
  affinity: undefined,
  authorization: undefined,
};

export interface RecordedJournal extends Journal {
  readonly events: string[];
}

export function createRecordedJournal(): RecordedJournal {
  const events: string[] = [];
  const note = (event: string): void => {
    events.push(event);
  };
  return { events, debug: note, info: note, warn: note, error: note };
}

/** What a modern server with these capabilities says of itself. */
export function advertise(capabilities = '{"tools":{},"logging":{}}'): Advertisement {
  const serverInfo = '{"name":"server","version":"1.0"}';
  return {
    era: "modern",
    revision: "2026-07-28",
    result: `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${capabilities},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}}`,
    capabilities,
    serverInfo,
    instructions: undefined,
  };
}

export interface LegacyTalk extends ScriptedService {
  readonly clock: ManualClock;
  readonly journal: RecordedJournal;
  /** What the client received since the last look, parsed. */
  heard(): Promise<unknown[]>;
  /** The same as texts. */
  heardTexts(): Promise<string[]>;
  say(message: object): void;
  sayText(text: string): void;
  finish(graceMs: number): Promise<void>;
  /** Opens the session and forgets what was said for it. */
  open(options?: OpenOptions): Promise<void>;
}

export interface OpenOptions {
  readonly revision?: string;
  readonly client?: object;
  readonly server?: string;
  /** Leaves `notifications/initialized` out. */
  readonly bare?: boolean;
}

export function legacyDeps(
  scripted: ScriptedService,
  clock: ManualClock,
  journal: Journal,
  changed: Partial<Limits> = {},
): LegacySessionDeps {
  const limits = { ...DEFAULT_LIMITS, ...changed };
  const deps: LegacyFrontDeps = {
    service: scripted.service,
    clock,
    entropy: createCountingEntropy("t"),
    journal,
    limits,
    upstreamName: "upstream",
    forwardUnknown: true,
    inFlight: createInFlight(limits.maxInFlightPerPrincipal),
  };
  return { ...deps, openFront: (options) => createLegacyFront(deps, options) };
}

/** A legacy client on a pipe in front of a scripted modern service. */
export function startLegacyTalk(
  limits: Partial<Limits> = {},
  scripted: ScriptedService = createScriptedService(),
): LegacyTalk {
  const clock = createManualClock();
  const journal = createRecordedJournal();
  const sent: string[] = [];
  let read = 0;
  const front = createLegacyChannelFront(legacyDeps(scripted, clock, journal, limits), SENDER, {
    send: (text) => sent.push(text),
  });
  const sayText = (text: string): void => {
    const message = parseMessage(text);
    if (message.type === "malformed") throw new Error(`the test says no message: ${text}`);
    front.message(message);
  };
  const heardTexts = async (): Promise<string[]> => {
    await settle();
    const fresh = sent.slice(read);
    read = sent.length;
    return fresh;
  };
  const say = (message: object): void => sayText(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return {
    ...scripted,
    clock,
    journal,
    say,
    sayText,
    heardTexts,
    heard: async () => (await heardTexts()).map((text) => JSON.parse(text)),
    finish: front.finish,
    async open({ revision = "2025-11-25", client = {}, server, bare = false } = {}) {
      say({
        id: "init",
        method: "initialize",
        params: {
          protocolVersion: revision,
          capabilities: client,
          clientInfo: { name: "client", version: "2" },
        },
      });
      await settle();
      scripted.describes.shift()?.settle(advertise(server));
      await settle();
      if (!bare) say({ method: "notifications/initialized" });
      await heardTexts();
    },
  };
}
