import { expect, test } from "vitest";
import { createChannelPair } from "../../../adapters/memory/channel-pair.js";
import { channelContract, record } from "../../contracts/channel-contract.js";
import { settle } from "../../support/manual-clock.js";

channelContract("memory", async () => {
  const { left, right } = createChannelPair();
  right.start({
    message: (text) => right.send(text),
    dropped: () => undefined,
    closed: () => undefined,
  });
  return {
    channel: left,
    say: (text) => right.send(text),
    leave: () => right.close(),
    stall: () => left.hold(),
  };
});

test("a message never arrives inside the send that sent it", async () => {
  const { left, right } = createChannelPair();
  const seen = record(right);
  left.send("1");
  expect(seen.messages).toEqual([]);
  await settle();
  expect(seen.messages).toEqual(["1"]);
});

test("what was sent before a close arrives before the end", async () => {
  const { left, right } = createChannelPair();
  const seen = record(right);
  left.send("1");
  await left.close();
  await settle();
  expect(seen.messages).toEqual(["1"]);
  expect(seen.ends).toEqual([{ expected: false, detail: "closed by the peer" }]);
});

test("held messages are backlog and go in order when released", async () => {
  const { left, right } = createChannelPair();
  const seen = record(right);
  left.hold();
  left.send("12");
  left.send("3");
  await settle();
  expect(seen.messages).toEqual([]);
  expect(left.backlog).toBe(3);
  left.release();
  await settle();
  expect(seen.messages).toEqual(["12", "3"]);
  expect(left.backlog).toBe(0);
});

test("lost messages are seen by the tap and by nobody else", async () => {
  const tapped: string[] = [];
  const { left, right } = createChannelPair({
    tap: (from, text) => tapped.push(`${from} ${text}`),
  });
  const seen = record(right);
  left.lose(1);
  left.send("1");
  left.send("2");
  right.send("3");
  await settle();
  expect(seen.messages).toEqual(["2"]);
  expect(tapped).toEqual(["left 1", "left 2", "right 3"]);
});

test("a cut ends both sides unexpectedly and loses what is on the way", async () => {
  const { left, right, cut } = createChannelPair();
  const [seenLeft, seenRight] = [record(left), record(right)];
  left.send("1");
  cut("exit code 1");
  await settle();
  expect(seenRight.messages).toEqual([]);
  expect(seenLeft.ends).toEqual([{ expected: false, detail: "exit code 1" }]);
  expect(seenRight.ends).toEqual([{ expected: false, detail: "exit code 1" }]);
  await Promise.all([left.close(), right.close()]);
});
