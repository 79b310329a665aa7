import { describe, expect, it } from "vitest";
import { settle } from "../support/manual-clock.js";
import { type CallOptions, createRig } from "./upstream-rig.js";

const URLS = '{"elicitation":{"form":{},"url":{}}}';
const SIGN_IN = { mode: "url", elicitationId: "id-1", url: "https://x/1", message: "Sign in" };
const PAY = { mode: "url", elicitationId: "id-2", url: "https://x/2", message: "Pay" };
const ACCEPT = { action: "accept" };

/** A call that the server has refused until its URLs are visited; the client knows. */
async function refused(elicitations: readonly unknown[] = [SIGN_IN], more: CallOptions = {}) {
  const rig = createRig();
  const options = { capabilities: URLS, ...more };
  const first = rig.call(options);
  await settle();
  const request = rig.server.requests[0];
  if (request === undefined) throw new Error();
  request.session.fail(request, -32042, "visit first", { elicitations });
  await rig.clock.pass(50);
  const again = (responses: unknown, state = first.state()) =>
    rig.call({ ...options, responses, state });
  return { ...rig, rig, first, again };
}

describe("error -32042", () => {
  it("becomes a question for each URL, and the call is made again when they are visited", async () => {
    const { first, again, clock, server } = await refused([SIGN_IN, PAY]);
    expect(first.result().inputRequests).toEqual({
      e1: {
        method: "elicitation/create",
        params: { mode: "url", url: "https://x/1", message: "Sign in" },
      },
      e2: {
        method: "elicitation/create",
        params: { mode: "url", url: "https://x/2", message: "Pay" },
      },
    });
    const retry = again({ e1: ACCEPT, e2: ACCEPT });
    await settle();
    server.session.tell("notifications/elicitation/complete", { elicitationId: "id-2" });
    await clock.pass(1_000);
    expect(server.requests).toHaveLength(1);
    server.session.tell("notifications/elicitation/complete", { elicitationId: "id-1" });
    await settle();
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.params).toEqual(server.requests[0]?.params);
    server.session.reply(server.last("tools/call"), { content: [] });
    await settle();
    expect(retry.outcome?.type).toBe("complete");
  });

  it("is not waited for longer than urlWaitMs, nor at all when the visit is over already", async () => {
    const slow = await refused();
    slow.again({ e1: ACCEPT });
    await slow.clock.pass(4_999);
    expect(slow.server.requests).toHaveLength(1);
    await slow.clock.pass(1);
    expect(slow.server.requests).toHaveLength(2);

    const early = await refused();
    const complete = { elicitationId: "id-1" };
    early.server.session.tell("notifications/elicitation/complete", complete);
    early.again({ e1: ACCEPT });
    await settle();
    expect(early.server.requests).toHaveLength(2);
  });

  it("may come again, and is a further round then", async () => {
    const { again, clock, server } = await refused();
    const second = again({ e1: ACCEPT });
    await clock.pass(5_000);
    const request = server.last("tools/call");
    request.session.fail(request, -32042, "again", { elicitations: [SIGN_IN] });
    await clock.pass(50);
    expect(second.keys()).toEqual(["e2"]);
  });

  it.each(["decline", "cancel"])(
    "ends in a tool error when the user answers %s",
    async (action) => {
      const { again, server } = await refused();
      const retry = again({ e1: { action } });
      await settle();
      expect(retry.result()).toMatchObject({ resultType: "complete", isError: true });
      expect(retry.result().content[0].text).toContain(action);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("ends in an error for other requests that the user turns down", async () => {
    const method = "resources/read";
    const { again } = await refused([SIGN_IN], { method, params: { uri: "x://a" } });
    const retry = again({ e1: { action: "decline" } });
    await settle();
    expect(retry.error()).toMatchObject({ code: -32603, data: { reason: "declined" } });
  });

  it("ends in a tool error when the client never answers", async () => {
    const { again, clock, server } = await refused();
    const second = again(undefined);
    await clock.pass(50);
    const third = again(undefined, second.state());
    await clock.pass(50);
    const fourth = again(undefined, third.state());
    await settle();
    expect(fourth.result()).toMatchObject({ isError: true });
    expect(server.requests).toHaveLength(1);
  });

  it("tells a client that takes no URLs what it lacks", async () => {
    const { call, server } = createRig();
    const round = call();
    await settle();
    const request = server.last("tools/call");
    server.session.fail(request, -32042, "visit first", { elicitations: [SIGN_IN] });
    await settle();
    expect(round.error()).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
  });

  it("without a usable URL, or for a request that cannot be asked, is the server's own error", async () => {
    const { call, server } = createRig();
    const broken = call({ capabilities: URLS });
    const list = call({ capabilities: URLS, method: "tools/list", params: {} });
    await settle();
    server.session.fail(server.last("tools/call"), -32042, "visit first", { elicitations: [{}] });
    const data = { elicitations: [SIGN_IN] };
    server.session.fail(server.last("tools/list"), -32042, "visit first", data);
    await settle();
    expect(broken.error()).toMatchObject({ code: -32603, data: { originalCode: -32042 } });
    expect(list.error()).toMatchObject({ code: -32603, data: { elicitations: [SIGN_IN] } });
  });

  it("outlives the session it came on: the server had refused the call", async () => {
    const { again, clock, server } = await refused();
    server.session.crash();
    again({ e1: ACCEPT });
    await clock.pass(5_000);
    expect(server.sessions).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });

  it("is dropped when the client does not come back", async () => {
    const { clock, server, upstream } = await refused();
    await clock.pass(10 * 60_000);
    expect(upstream.stats()).toMatchObject({ calls: 0, parked: 0 });
    expect(server.session.cancelled).toEqual([]);
  });
});
