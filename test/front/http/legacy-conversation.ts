import { createEndpoint } from "../../../src/front/http/endpoint.js";
import {
  createLegacyEndpoint,
  type LegacyEndpoint,
} from "../../../src/front/http/legacy-endpoint.js";
import {
  type Authenticator,
  DEFAULT_LIMITS,
  type Limits,
  type Sealer,
  toPrincipal,
} from "../../../src/index.js";
import { createManualClock, settle } from "../../support/manual-clock.js";
import { ask, type RecordedReply } from "../../support/recorded-reply.js";
import { createScriptedService, type ScriptedService } from "../../support/scripted-service.js";
import {
  advertise,
  createRecordedJournal,
  legacyDeps,
  type RecordedJournal,
} from "../legacy-talk.js";

/** Seals by writing down, so that tests can forge and share. */
export function createOpenSealer(key = "k"): Sealer {
  return {
    seal: (plain) => `${key}.${Buffer.from(plain).toString("base64url")}`,
    open: (sealed) =>
      sealed.startsWith(`${key}.`)
        ? Buffer.from(sealed.slice(key.length + 1), "base64url").toString()
        : undefined,
    fingerprint: (text) => text,
  };
}

/** The sender is whoever the header says. */
const byHeader: Authenticator = (headers) => ({
  type: "accepted",
  principal: toPrincipal(headers["x-user"] ?? "local"),
  anonymous: false,
});

export interface LegacyHttp extends ScriptedService {
  readonly clock: ReturnType<typeof createManualClock>;
  readonly journal: RecordedJournal;
  readonly legacy: LegacyEndpoint;
  post(message: object | string, headers?: Record<string, string>): RecordedReply;
  get(headers: Record<string, string>): RecordedReply;
  del(headers: Record<string, string>): RecordedReply;
  /** Opens a session; returns the headers of its requests. */
  open(options?: OpenOptions): Promise<Record<string, string>>;
}

export interface OpenOptions {
  readonly revision?: string;
  readonly client?: object;
  readonly server?: string;
  readonly user?: string;
}

export interface LegacyHttpOptions {
  readonly limits?: Partial<Limits>;
  readonly sealer?: Sealer;
  readonly clock?: ReturnType<typeof createManualClock>;
  readonly instance?: string;
  readonly sameResource?: boolean;
}

export function startLegacyHttp(options: LegacyHttpOptions = {}): LegacyHttp {
  const scripted = createScriptedService();
  const clock = options.clock ?? createManualClock();
  const journal = createRecordedJournal();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const deps = legacyDeps(scripted, clock, journal, limits);
  let tokens = 0;
  const legacy = createLegacyEndpoint({
    ...deps,
    entropy: { token: () => `${options.instance ?? "t"}${++tokens}` },
    sealer: options.sealer ?? createOpenSealer(),
    sameResource: options.sameResource,
  });
  const endpoint = createEndpoint({
    service: scripted.service,
    ports: { clock, journal },
    limits,
    authenticator: byHeader,
    forwardUnknown: true,
    frontEra: "auto",
    legacy: legacy.handle,
    allowedHosts: [],
    allowedOrigins: [],
  });
  const send = (
    method: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): RecordedReply =>
    ask(endpoint.handle, {
      method,
      body,
      headers: { host: "localhost", "content-type": "application/json", ...headers },
    });
  const post = (message: object | string, headers: Record<string, string> = {}): RecordedReply => {
    const text =
      typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    return send("POST", text, headers);
  };
  return {
    ...scripted,
    clock,
    journal,
    legacy,
    post,
    get: (headers) => send("GET", undefined, headers),
    del: (headers) => send("DELETE", undefined, headers),
    async open({ revision = "2025-11-25", client = {}, server, user = "local" } = {}) {
      const who = { "x-user": user };
      const params = { protocolVersion: revision, capabilities: client };
      const reply = post({ id: "init", method: "initialize", params }, who);
      scripted.describes.shift()?.settle(advertise(server));
      await settle();
      const headers = { ...who, "mcp-session-id": reply.headers["mcp-session-id"] ?? "none" };
      post({ method: "notifications/initialized" }, headers);
      return headers;
    },
  };
}

export interface ReadEvent {
  readonly id: string;
  readonly data: unknown;
}

/** The messages a reply has streamed so far; priming events and comments left out. */
export function eventsIn(reply: RecordedReply): ReadEvent[] {
  return reply.body
    .split("\n\n")
    .map((block) => {
      const field = (name: string): string =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? "";
      return { id: field("id"), data: field("data") };
    })
    .filter(({ data }) => data !== "")
    .map(({ id, data }) => ({ id, data: JSON.parse(data) }));
}
