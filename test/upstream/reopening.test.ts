import { describe, expect, it } from "vitest";
import { BridgeError, type Channel, DEFAULT_LIMITS } from "../../src/index.js";
import { withPauses } from "../../src/upstream/reopening.js";
import { createManualClock } from "../support/manual-clock.js";
import { createFakeChannel, type FakeChannel } from "./fakes.js";

function setUp() {
  const clock = createManualClock();
  const opened: FakeChannel[] = [];
  let broken: BridgeError | undefined;
  const target = withPauses(
    {
      type: "channel",
      name: "server",
      spawns: true,
      async open() {
        if (broken !== undefined) throw broken;
        const channel = createFakeChannel();
        opened.push(channel);
        return channel;
      },
    },
    { clock, limits: DEFAULT_LIMITS },
  );
  const start = async (open: Promise<Channel>): Promise<FakeChannel> => {
    (await open).start({ message() {}, dropped() {}, closed() {} });
    const channel = opened.at(-1);
    if (channel === undefined) throw new Error("nothing was opened");
    return channel;
  };
  const crash = async (): Promise<void> => {
    (await start(target.openNow())).ends("exit code 1");
  };
  return { clock, opened, target, start, crash, breakIt: (error: BridgeError) => (broken = error) };
}

describe("a server that is opened again", () => {
  it("opens at once when nothing went wrong", async () => {
    const { target, start, opened } = setUp();
    await (await start(target.open())).close();
    await start(target.open());
    expect(opened).toHaveLength(2);
  });

  it("waits for a short pause after a crash", async () => {
    const { clock, target, crash, opened } = setUp();
    await crash();
    const again = target.open();
    await clock.pass(499);
    expect(opened).toHaveLength(1);
    await clock.pass(1);
    await again;
    expect(opened).toHaveLength(2);
  });

  it("tells the failure at once while a longer pause lasts", async () => {
    const { clock, target, crash, opened } = setUp();
    for (let i = 0; i < 3; i++) await crash();
    await expect(target.open()).rejects.toMatchObject({
      code: "upstream-unavailable",
      message: "server ended: exit code 1",
      data: { retryAfterMs: 2_000 },
    });
    expect(opened).toHaveLength(3);
    clock.advance(2_000);
    await target.open();
    expect(opened).toHaveLength(4);
  });

  it("never pauses longer than the maximum", async () => {
    const { target, crash } = setUp();
    for (let i = 0; i < 20; i++) await crash();
    await expect(target.open()).rejects.toMatchObject({ data: { retryAfterMs: 30_000 } });
  });

  it("forgets old failures after a healthy minute", async () => {
    const { clock, target, start, crash } = setUp();
    for (let i = 0; i < 10; i++) await crash();
    const channel = await start(target.openNow());
    clock.advance(60_000);
    channel.ends("killed");
    const again = target.open();
    await clock.pass(500);
    await again;
  });

  it("counts a server that does not start", async () => {
    const { target, crash, breakIt } = setUp();
    for (let i = 0; i < 2; i++) await crash();
    breakIt(
      new BridgeError("upstream-unavailable", "no such command", { data: { errno: "ENOENT" } }),
    );
    await expect(target.openNow()).rejects.toThrow("no such command");
    await expect(target.open()).rejects.toMatchObject({
      message: "no such command",
      data: { errno: "ENOENT", retryAfterMs: 2_000 },
    });
  });
});
