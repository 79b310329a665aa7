import { DEFAULT_LIMITS, type Limits, toPrincipal } from "../../src/index.js";
import type { Caller } from "../../src/model/caller.js";
import type { Notice } from "../../src/model/notice.js";
import type { Operation, Outcome } from "../../src/model/operation.js";
import { createChannelLink } from "../../src/upstream/channel-link.js";
import { createModernHttpLink } from "../../src/upstream/modern-http-link.js";
import { createModernUpstream } from "../../src/upstream/modern-upstream.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import {
  createFakeChannel,
  createFakeServer,
  createRecordingJournal,
  type FakeCall,
} from "./fakes.js";

export function callerOf(name = "p", changed: Partial<Caller> = {}): Caller {
  return {
    principal: toPrincipal(name),
    anonymous: false,
    identity: '{"name":"client","version":"2"}',
    capabilities: '{"roots":{}}',
    affinity: undefined,
    authorization: undefined,
    ...changed,
  };
}

export function operationOf(
  method: string,
  params = "{}",
  changed: Partial<Operation> = {},
): Operation {
  return {
    method,
    params,
    caller: callerOf(),
    logLevel: undefined,
    wantsProgress: false,
    answers: undefined,
    ...changed,
  };
}

/** One relay: what it brought so far. */
export interface Relayed {
  readonly notices: Notice[];
  readonly outcome: Outcome | undefined;
  cancel(): void;
}

function relayOn(upstream: ReturnType<typeof createModernUpstream>) {
  return async (operation: Operation): Promise<Relayed> => {
    const controller = new AbortController();
    const relayed = {
      notices: [] as Notice[],
      outcome: undefined as Outcome | undefined,
      cancel: () => controller.abort(),
    };
    void upstream
      .relay(operation, (notice) => relayed.notices.push(notice), controller.signal)
      .then((outcome) => {
        relayed.outcome = outcome;
      });
    await settle();
    return relayed;
  };
}

/** The modern upstream in front of an HTTP server that the test plays. */
export function startHttpRig(limits: Partial<Limits> = {}) {
  const server = createFakeServer();
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const all = { ...DEFAULT_LIMITS, ...limits };
  const upstream = createModernUpstream({
    name: "server",
    openLink: async () =>
      createModernHttpLink({
        url: "http://server.invalid/mcp",
        name: "server",
        exchange: server.exchange,
        headers: () => ({}),
        limits: all,
        clock,
        journal,
      }),
    headers: ({ principal }) => ({ authorization: `Bearer ${principal}`, "mcp-method": "spoofed" }),
    clock,
    journal,
    limits: all,
  });
  /** Answers the nth call with a result under its own id. */
  const answer = async (index: number, result: string): Promise<void> => {
    const call = server.call(index);
    call.answers(200, `{"jsonrpc":"2.0","id":${idOf(call)},"result":${result}}`);
    await settle();
  };
  const fail = async (index: number, status: number, error: string): Promise<void> => {
    const call = server.call(index);
    call.answers(status, `{"jsonrpc":"2.0","id":${idOf(call)},"error":${error}}`);
    await settle();
  };
  return { server, clock, journal, upstream, relay: relayOn(upstream), answer, fail };
}

export function idOf(call: FakeCall): number {
  return JSON.parse(call.body ?? "{}").id;
}

export function paramsOf(call: FakeCall): unknown {
  return JSON.parse(call.body ?? "{}").params;
}

/** The modern upstream in front of a process that the test plays; `channels` are its lives. */
export function startPipeRig(limits: Partial<Limits> = {}) {
  const clock = createManualClock();
  const journal = createRecordingJournal();
  const channels: ReturnType<typeof createFakeChannel>[] = [];
  const upstream = createModernUpstream({
    name: "server",
    openLink: async () => {
      const channel = createFakeChannel();
      channels.push(channel);
      return createChannelLink({ channel, name: "server", journal, limits: DEFAULT_LIMITS });
    },
    headers: undefined,
    clock,
    journal,
    limits: { ...DEFAULT_LIMITS, ...limits },
  });
  const sent = (life = -1): unknown[] =>
    (channels.at(life)?.sent ?? []).map((text) => JSON.parse(text));
  const says = async (...messages: readonly object[]): Promise<void> => {
    for (const message of messages) {
      channels.at(-1)?.says(JSON.stringify({ jsonrpc: "2.0", ...message }));
    }
    await settle();
  };
  return { clock, journal, channels, upstream, relay: relayOn(upstream), sent, says };
}
