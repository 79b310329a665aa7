import { describe, expect, it } from "vitest";
import { BridgeError, DEFAULT_LIMITS } from "../../src/index.js";
import type { Link } from "../../src/upstream/link.js";
import { type ProbeFinding, probeRequest } from "../../src/upstream/probe.js";
import { startTrial, type Trial } from "../../src/upstream/trial.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import {
  createFakeChannel,
  createRecorder,
  createRecordingJournal,
  type FakeChannel,
  requestText,
} from "./fakes.js";

const PROBE = probeRequest('{"name":"bridge","version":"1"}');
const UNKNOWN = `{"jsonrpc":"2.0","id":${PROBE.id},"error":{"code":-32601,"message":"no"}}`;
const DISCOVERED = `{"jsonrpc":"2.0","id":${PROBE.id},"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}`;
const REFUSED =
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}';
const INITIALIZE = requestText(1, "initialize");

function setUp({ asks = true } = {}) {
  const channels: FakeChannel[] = [createFakeChannel()];
  const clock = createManualClock();
  const proofs: ProbeFinding[] = [];
  const recorder = createRecorder();
  let broken = false;
  const channel = (index: number): FakeChannel => {
    const found = channels.at(index);
    if (found === undefined) throw new Error(`there is no channel ${index}`);
    return found;
  };
  const trial = startTrial({
    channel: channel(0),
    probe: asks ? PROBE : undefined,
    async reopen() {
      if (broken) throw new BridgeError("upstream-unavailable", "no such command");
      channels.push(createFakeChannel());
      return channel(-1);
    },
    proved: (finding) => proofs.push(finding),
    name: "server",
    clock,
    limits: DEFAULT_LIMITS,
    journal: createRecordingJournal(),
  });
  return {
    trial,
    clock,
    proofs,
    channel,
    channels,
    recorder,
    log: recorder.log,
    breakIt: () => {
      broken = true;
    },
  };
}

async function lent(trial: Trial): Promise<Link> {
  const link = await trial.lend();
  if (link === undefined) throw new Error("nothing to lend");
  return link;
}

/** A session that has sent its `initialize` behind the probe. */
async function silentTrial() {
  const all = setUp();
  const link = await lent(all.trial);
  link.start(all.recorder);
  link.request({ id: 1, method: "initialize", text: INITIALIZE });
  return { ...all, link };
}

describe("a trial of a server that answers the probe", () => {
  it("begins with the probe and nothing else", () => {
    const { channel } = setUp();
    expect(channel(0).sent).toEqual([PROBE.text]);
  });

  it("hands a legacy server on without a trace of the probe", async () => {
    const { trial, channel, channels, recorder, log } = setUp();
    channel(0).says('{"jsonrpc":"2.0","method":"notifications/message","params":{}}', UNKNOWN);
    expect(await trial.finding).toMatchObject({ type: "legacy" });
    const link = await lent(trial);
    link.start(recorder);
    link.request({ id: 1, method: "initialize", text: INITIALIZE });
    channel(0).says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["notification notifications/message", "response 1 {}"]);
    expect(channel(0).sent).toEqual([PROBE.text, INITIALIZE]);
    expect(channels).toHaveLength(1);
  });

  it("hands a modern server on", async () => {
    const { trial, channel, recorder, log } = setUp();
    channel(0).says(DISCOVERED);
    expect(await trial.finding).toMatchObject({ type: "modern", revision: "2026-07-28" });
    const link = await lent(trial);
    link.start(recorder);
    link.request({ id: 1, method: "tools/list", text: requestText(1, "tools/list") });
    channel(0).says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["response 1 {}"]);
  });

  it("lends to one user at a time", async () => {
    const { trial, channel } = setUp();
    channel(0).says(UNKNOWN);
    const first = trial.lend();
    const second = trial.lend();
    expect(await first).toBeDefined();
    expect(await second).toBeUndefined();
  });

  it("takes an answer without an id for the probe's", async () => {
    const { trial, channel } = setUp();
    channel(0).says('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}');
    expect(await trial.finding).toMatchObject({ type: "legacy" });
  });
});

describe("a trial of a server that ends on the probe", () => {
  it.each([
    ["half a line", '{"jsonrpc":"2.0","id'],
    ["an error", UNKNOWN],
  ])("starts it once more when the last thing it wrote was %s", async (_what, text) => {
    const { trial, channel, channels, recorder, log } = setUp();
    channel(0).says(text);
    expect(await trial.finding).toMatchObject({ type: "legacy" });
    const link = await lent(trial);
    link.start(recorder);
    link.request({ id: 1, method: "initialize", text: INITIALIZE });
    channel(0).ends("exit code 1");
    await settle();
    expect(channels).toHaveLength(2);
    expect(channel(1).sent).toEqual([INITIALIZE]);
    channel(1).says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["response 1 {}"]);
  });

  it("lets the end of a server that has answered initialize be a crash", async () => {
    const { trial, channel, channels, recorder } = setUp();
    channel(0).says(UNKNOWN);
    const link = await lent(trial);
    link.start(recorder);
    link.request({ id: 1, method: "initialize", text: INITIALIZE });
    channel(0).says('{"jsonrpc":"2.0","id":1,"result":{}}');
    channel(0).ends("exit code 1");
    await settle();
    expect(channels).toHaveLength(1);
  });

  it("tells so, and has nothing to lend", async () => {
    const { trial, channel } = setUp();
    channel(0).ends("exit code 1");
    expect(await trial.finding).toEqual({ type: "ended", detail: "exit code 1" });
    expect(await trial.lend()).toBeUndefined();
  });

  it("starts it once more with initialize first when a session waits already", async () => {
    const { channel, channels, log, proofs } = await silentTrial();
    channel(0).ends("exit code 1");
    await settle();
    expect(channels).toHaveLength(2);
    expect(channel(1).sent).toEqual([INITIALIZE]);
    channel(1).says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["response 1 {}"]);
    expect(proofs).toEqual([{ type: "legacy", reason: "answered initialize" }]);
  });

  it("does not start it a third time", async () => {
    const { channel, channels, log, proofs } = await silentTrial();
    channel(0).ends("exit code 1");
    await settle();
    channel(1).ends("exit code 2");
    await settle();
    expect(channels).toHaveLength(2);
    expect(log).toEqual(["lost 1 broken: exit code 2", "closed: exit code 2"]);
    expect(proofs).toEqual([]);
  });

  it("reports the end when it cannot be started again", async () => {
    const { channel, log, breakIt } = await silentTrial();
    breakIt();
    channel(0).ends("exit code 1");
    await settle();
    expect(log).toEqual(["lost 1 broken: no such command", "closed: no such command"]);
  });

  it("ends what was started again when the session no longer wants it", async () => {
    const { channel, channels, link } = await silentTrial();
    channel(0).ends("exit code 1");
    await link.close();
    expect(channels).toHaveLength(2);
    expect(channel(1).closes).toBeGreaterThan(0);
    expect(channel(1).sent).toEqual([]);
  });
});

describe("a trial of a server that is silent on the probe", () => {
  it("sends initialize behind the probe, and drops the late answer to the probe", async () => {
    const { channel, log, proofs, link } = await silentTrial();
    expect(channel(0).sent).toEqual([PROBE.text, INITIALIZE]);
    channel(0).says('{"jsonrpc":"2.0","id":1,"result":{}}', UNKNOWN);
    expect(log).toEqual(["response 1 {}"]);
    expect(proofs).toEqual([{ type: "legacy", reason: "answered initialize" }]);
    link.request({ id: 2, method: "tools/list", text: requestText(2, "tools/list") });
    channel(0).says('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}');
    expect(log[1]).toBe('error 2 {"code":1,"message":"m"}');
  });

  it("lets both answers come in order", async () => {
    const { channel, log, proofs } = await silentTrial();
    channel(0).says(UNKNOWN, '{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["response 1 {}"]);
    expect(proofs).toEqual([{ type: "legacy", reason: "answered the probe with error -32601" }]);
  });

  it("takes a modern server back from the session and hands it on when initialize was refused", async () => {
    const { trial, clock, channel, channels, log, proofs, link } = await silentTrial();
    channel(0).says(DISCOVERED);
    expect(proofs).toMatchObject([{ type: "modern" }]);
    expect(log).toEqual([
      "lost 1 not-sent: the server speaks the modern era",
      "closed: the server speaks the modern era",
    ]);
    await link.close();
    const next = trial.lend();
    await settle();
    channel(0).says(REFUSED);
    const modern = await next;
    const recorder = createRecorder();
    modern?.start(recorder);
    modern?.request({ id: 1, method: "tools/list", text: requestText(1, "tools/list") });
    channel(0).says('{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(recorder.log).toEqual(["response 1 {}"]);
    expect(channels).toHaveLength(1);
    expect(log).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it("takes a refusal of initialize that names modern revisions for the same", async () => {
    const { trial, channel, log, proofs } = await silentTrial();
    channel(0).says(REFUSED);
    expect(proofs).toMatchObject([{ type: "modern" }]);
    expect(log).toEqual([
      "lost 1 not-sent: the server speaks the modern era",
      "closed: the server speaks the modern era",
    ]);
    expect(await trial.lend()).toBeDefined();
  });

  it.each([
    ["takes the handshake", '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}'],
    ["says nothing to it", undefined],
  ])("does not hand on a modern server that %s", async (_, text) => {
    const { trial, clock, channel } = await silentTrial();
    channel(0).says(DISCOVERED);
    const next = trial.lend();
    await settle();
    if (text !== undefined) channel(0).says(text);
    else await clock.pass(2_000);
    expect(await next).toBeUndefined();
    expect(channel(0).closes).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("does not hand on a modern server that ends on initialize", async () => {
    const { trial, clock, channel, proofs } = await silentTrial();
    channel(0).says(DISCOVERED);
    channel(0).ends("exit code 1");
    expect(proofs).toMatchObject([{ type: "modern" }]);
    expect(await trial.lend()).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});

describe("a trial without a question", () => {
  it("only starts the server early", async () => {
    const { trial, channel } = setUp({ asks: false });
    expect(channel(0).sent).toEqual([]);
    expect(await trial.lend()).toBeDefined();
  });

  it("ends what nobody used", async () => {
    const { trial, channel } = setUp();
    await trial.close();
    expect(channel(0).closes).toBe(1);
  });
});
