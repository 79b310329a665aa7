import { expect, test } from "vitest";
import type { StartChannelFront } from "../../src/front/channel-front.js";
import { settle } from "../support/manual-clock.js";
import { complete } from "../support/scripted-service.js";
import { params, requestText } from "./http/modern-conversation.js";
import { startChannelTalk } from "./modern-channel.js";

/** A legacy front that answers `initialize` and echoes the method of everything else. */
function scriptedLegacy() {
  const seen: string[] = [];
  let started = 0;
  const start: StartChannelFront = (outlet) => {
    started += 1;
    return {
      message: (message) => {
        seen.push("method" in message ? message.method : message.type);
        if (message.type !== "request") return;
        outlet.send(`{"jsonrpc":"2.0","id":${message.id},"result":{"legacy":true}}`);
      },
      finish: () => Promise.resolve(),
    };
  };
  return { start, seen, started: () => started };
}

const INITIALIZE = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}';
const ADVERTISEMENT = {
  era: "legacy",
  revision: "2025-11-25",
  result:
    '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}',
  capabilities: '{"tools":{}}',
  serverInfo: undefined,
  instructions: undefined,
} as const;

test("initialize makes the conversation legacy", () => {
  const legacy = scriptedLegacy();
  const { far } = startChannelTalk({ legacy: legacy.start });
  far.say(requestText("1", "initialize", INITIALIZE));
  far.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  far.say(requestText("2", "server/discover", "{}"));
  far.say(requestText("3", "tools/list", "{}"));
  expect(legacy.seen).toEqual([
    "initialize",
    "notifications/initialized",
    "server/discover",
    "tools/list",
  ]);
});

test("a modern request makes the conversation modern", async () => {
  const legacy = scriptedLegacy();
  const { far, calls } = startChannelTalk({ legacy: legacy.start });
  far.say(requestText("1", "tools/list", params()));
  far.say(requestText("2", "initialize", INITIALIZE));
  expect(JSON.parse(far.sent[0] ?? "")).toMatchObject({ id: 2, error: { code: -32022 } });
  far.say(requestText("3", "tools/list", "{}"));
  expect(JSON.parse(far.sent[1] ?? "")).toMatchObject({ id: 3, error: { code: -32602 } });
  expect(calls).toHaveLength(1);
  expect(legacy.started()).toBe(0);
});

test("a client that probes and then initializes without waiting gets both answers once", async () => {
  const legacy = scriptedLegacy();
  const { far, describes } = startChannelTalk({ legacy: legacy.start });
  far.say(requestText("0", "server/discover", params()));
  far.say(requestText("1", "initialize", INITIALIZE));
  expect(far.sent).toEqual(['{"jsonrpc":"2.0","id":1,"result":{"legacy":true}}']);
  describes[0]?.settle(ADVERTISEMENT);
  await settle();
  expect(JSON.parse(far.sent[1] ?? "")).toMatchObject({
    id: 0,
    result: {
      supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
    },
  });
  far.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  far.say(requestText("2", "tools/list", "{}"));
  expect(far.sent).toHaveLength(3);
  expect(legacy.seen).toEqual(["initialize", "notifications/initialized", "tools/list"]);
});

test("a probe that was answered leaves both ways open", async () => {
  const legacy = scriptedLegacy();
  const { far, describes, calls } = startChannelTalk({ legacy: legacy.start });
  far.say(requestText("0", "server/discover", params()));
  describes[0]?.settle(ADVERTISEMENT);
  await settle();
  far.say(requestText("1", "tools/list", params()));
  calls[0]?.settle(complete("{}"));
  await settle();
  expect(far.sent[1]).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  far.say(requestText("2", "initialize", INITIALIZE));
  expect(JSON.parse(far.sent[2] ?? "")).toMatchObject({ id: 2, error: { code: -32022 } });
});

test("what belongs to no request does not start a front before the era is known", () => {
  const legacy = scriptedLegacy();
  const { far } = startChannelTalk({ legacy: legacy.start });
  far.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
  far.say('{"jsonrpc":"2.0","id":1,"result":{}}');
  far.say("[1]");
  expect(legacy.started()).toBe(0);
  expect(far.sent).toEqual([
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a conversation does not begin with a batch"}}',
  ]);
});

test("a ping before the handshake goes to the legacy front and decides nothing", () => {
  const legacy = scriptedLegacy();
  const { far, calls } = startChannelTalk({ legacy: legacy.start });
  far.say('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  expect(legacy.seen).toEqual(["ping"]);
  far.say(requestText("2", "tools/list", params()));
  expect(calls).toHaveLength(1);
});

test("a legacy-only channel hands the probe to the legacy front", () => {
  const legacy = scriptedLegacy();
  const { far } = startChannelTalk({ legacy: legacy.start, legacyOnly: true });
  far.say(requestText("0", "server/discover", params()));
  expect(legacy.seen).toEqual(["server/discover"]);
});

test("the end of input while the probe is open ends the conversation after its answer", async () => {
  const legacy = scriptedLegacy();
  const { far, describes, served } = startChannelTalk({ legacy: legacy.start });
  far.say(requestText("0", "server/discover", params()));
  far.endInput();
  describes[0]?.settle(ADVERTISEMENT);
  await served.finished;
  expect(far.sent).toHaveLength(1);
  expect(far.closed).toBe(true);
});

test("a client that is gone gets no time for its calls", async () => {
  const legacy = scriptedLegacy();
  const { far, calls, served } = startChannelTalk({ legacy: legacy.start });
  far.say(requestText("1", "tools/list", params()));
  expect(calls).toHaveLength(1);
  far.leave();
  await served.finished;
  expect(calls[0]?.signal.aborted).toBe(true);
});
