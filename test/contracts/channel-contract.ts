import { afterEach, expect, test } from "vitest";
import type { Channel, ChannelEnd } from "../../src/index.js";

/** A channel under test whose peer sends every text back, in order. */
interface EchoedChannel {
  readonly channel: Channel;
  /** Makes the peer say something by itself. */
  say(text: string): void | Promise<void>;
  /** Makes the peer go away for good. */
  leave(): void | Promise<void>;
  /** Makes the peer stop reading. */
  stall(): void | Promise<void>;
}

export type OpenEchoed = (options: { readonly maxMessageBytes: number }) => Promise<EchoedChannel>;

interface Recorder {
  readonly messages: string[];
  readonly dropped: { readonly reason: string; readonly head: string }[];
  readonly ends: ChannelEnd[];
  /** Resolves once the condition holds; it is looked at after every event. */
  until(condition: () => boolean): Promise<void>;
}

/** Starts a channel and keeps what it delivers. */
export function record(channel: Channel): Recorder {
  const messages: string[] = [];
  const dropped: { reason: string; head: string }[] = [];
  const ends: ChannelEnd[] = [];
  let waiting: { condition: () => boolean; resolve: () => void }[] = [];
  const happened = (): void => {
    for (const { condition, resolve } of waiting) if (condition()) resolve();
    waiting = waiting.filter(({ condition }) => !condition());
  };
  channel.start({
    message(text) {
      messages.push(text);
      happened();
    },
    dropped(reason, head) {
      dropped.push({ reason, head });
      happened();
    },
    closed(end) {
      ends.push(end);
      happened();
    },
  });
  return {
    messages,
    dropped,
    ends,
    until(condition) {
      if (condition()) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ condition, resolve }));
    },
  };
}

/** What every channel promises, whatever carries it. */
export function channelContract(name: string, openEchoed: OpenEchoed): void {
  const opened: Channel[] = [];
  const open = async (maxMessageBytes = 4 * 1024 * 1024): Promise<EchoedChannel> => {
    const echoed = await openEchoed({ maxMessageBytes });
    opened.push(echoed.channel);
    return echoed;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((channel) => channel.close()));
  });

  test(`${name}: messages arrive whole and in order`, async () => {
    const { channel } = await open();
    const seen = record(channel);
    const sent = Array.from({ length: 500 }, (_, n) => `{"n":${n},"pad":"${"x".repeat(n)}"}`);
    for (const text of sent) channel.send(text);
    await seen.until(() => seen.messages.length === 500);
    expect(seen.messages).toEqual(sent);
  });

  test(`${name}: every character survives`, async () => {
    const { channel } = await open();
    const seen = record(channel);
    const text = String.raw`{"a":"ü漢😀 \u0000 \ud83d \" \\ \n","n":1915883588174806058,"f":1.0}`;
    channel.send(text);
    await seen.until(() => seen.messages.length === 1);
    expect(seen.messages).toEqual([text]);
  });

  test(`${name}: a message of some megabytes arrives`, async () => {
    const { channel } = await open();
    const seen = record(channel);
    const text = `{"image":"${"A".repeat(3 * 1024 * 1024)}"}`;
    channel.send(text);
    await seen.until(() => seen.messages.length === 1);
    expect(seen.messages[0] === text).toBe(true);
  });

  test(`${name}: line breaks between tokens do not cut a message in two`, async () => {
    const { channel } = await open();
    const seen = record(channel);
    channel.send('{\n  "a": 1,\r\n  "b": 2\n}');
    await seen.until(() => seen.messages.length === 1);
    expect(seen.messages).toHaveLength(1);
    expect(seen.messages[0]).not.toMatch(/[\r\n]/);
    expect(JSON.parse(seen.messages[0] ?? "")).toEqual({ a: 1, b: 2 });
  });

  test(`${name}: what came before the start is delivered first`, async () => {
    const { channel, say } = await open();
    await say('"early"');
    channel.send('"later"');
    await new Promise((resolve) => setImmediate(resolve));
    const seen = record(channel);
    await seen.until(() => seen.messages.length === 2);
    expect(seen.messages).toEqual(['"early"', '"later"']);
  });

  test(`${name}: closing ends it once, expected, and later sends are dropped`, async () => {
    const { channel } = await open();
    const seen = record(channel);
    await Promise.all([channel.close(), channel.close()]);
    channel.send('"too late"');
    await channel.close();
    expect(seen.messages).toEqual([]);
    expect(seen.ends).toHaveLength(1);
    expect(seen.ends[0]).toMatchObject({ expected: true });
  });

  test(`${name}: a peer that leaves is an unexpected end with a reason`, async () => {
    const { channel, leave } = await open();
    const seen = record(channel);
    channel.send('"hello"');
    await seen.until(() => seen.messages.length === 1);
    await leave();
    await seen.until(() => seen.ends.length === 1);
    expect(seen.ends[0]).toMatchObject({ expected: false });
    expect(seen.ends[0]?.detail).not.toBe("");
    channel.send('"nobody is there"');
    await channel.close();
    expect(seen.ends).toHaveLength(1);
  });

  test(`${name}: an end before the start is reported at the start`, async () => {
    const { channel, leave } = await open();
    await leave();
    const seen = record(channel);
    await seen.until(() => seen.ends.length === 1);
    expect(seen.ends[0]).toMatchObject({ expected: false });
  });

  test(`${name}: what a peer does not read is backlog`, async () => {
    const { channel, stall } = await open();
    record(channel);
    expect(channel.backlog).toBe(0);
    await stall();
    const text = `"${"x".repeat(1024 * 1024)}"`;
    for (let n = 0; n < 32; n += 1) channel.send(text);
    expect(channel.backlog).toBeGreaterThan(8 * 1024 * 1024);
  });
}
