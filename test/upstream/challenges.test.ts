import { describe, expect, it } from "vitest";
import { BridgeError, DEFAULT_LIMITS, type HttpHeaders } from "../../src/index.js";
import { openEventStreamLink } from "../../src/upstream/event-stream-link.js";
import { isUnprocessed, toBridgeError } from "../../src/upstream/exchange.js";
import { probeHttp } from "../../src/upstream/http-probe.js";
import { createLegacyHttpLink } from "../../src/upstream/legacy-http-link.js";
import { createLegacyUrlLinks } from "../../src/upstream/legacy-url-links.js";
import type { Link, LinkLoss } from "../../src/upstream/link.js";
import { createModernHttpLink } from "../../src/upstream/modern-http-link.js";
import { createOpenPause } from "../../src/upstream/open-pause.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import { createFakeServer, createRecordingJournal, requestText } from "./fakes.js";

/** Two challenges as the HTTP port joins them. */
const AUTHENTICATE =
  'Bearer realm="x", error="invalid_token", scope="a b", resource_metadata="https://up.example/m", Basic realm="y"';
const ANSWER: HttpHeaders = { "content-type": "text/plain", "www-authenticate": AUTHENTICATE };

function setUp(relaysChallenges?: boolean) {
  const server = createFakeServer();
  const clock = createManualClock();
  const options = {
    url: "http://server.test/mcp",
    name: "server",
    exchange: server.exchange,
    headers: () => ({}),
    limits: DEFAULT_LIMITS,
    clock,
    journal: createRecordingJournal(),
    relaysChallenges,
  };
  return { server, clock, options };
}

/** The losses of a link, and its first request. */
function talkOn(link: Link, method = "tools/list"): LinkLoss[] {
  const losses: LinkLoss[] = [];
  link.start({
    message: () => undefined,
    lost: (_, loss) => losses.push(loss),
    closed: () => undefined,
  });
  link.request({ id: 1, method, text: requestText(1, method) });
  return losses;
}

const LINKS = [
  ["legacy", createLegacyHttpLink],
  ["modern", createModernHttpLink],
] as const;

describe.each(LINKS)("a %s link over HTTP", (_name, create) => {
  it.each([401, 403] as const)("tells how credentials were refused with %i", (status) => {
    const { server, options } = setUp(true);
    const losses = talkOn(create(options));
    server.call(0).answers(status, "no", ANSWER);
    expect(losses).toMatchObject([
      { kind: "unauthorized", status, challenge: { status, authenticate: AUTHENTICATE } },
    ]);
  });

  it("tells it also where the server says nothing of it, or what no header may hold", () => {
    const { server, options } = setUp(true);
    const link = create(options);
    const losses = talkOn(link);
    server.call(0).answers(401);
    link.request({ id: 2, method: "tools/list", text: requestText(2, "tools/list") });
    server.call(1).answers(401, "", { "www-authenticate": 'Bearer realm="Zürich → Köln\r\nX: y"' });
    expect(losses.map(({ challenge }) => challenge)).toEqual([
      { status: 401, authenticate: undefined },
      { status: 401, authenticate: 'Bearer realm="Zürich ? Köln??X: y"' },
    ]);
  });

  it.each([undefined, false])("keeps it to itself where it is the operator's (%s)", (relays) => {
    const { server, options } = setUp(relays);
    const losses = talkOn(create(options));
    server.call(0).answers(401, "no", ANSWER);
    expect(losses[0]?.kind).toBe("unauthorized");
    expect(JSON.stringify(losses)).not.toContain("realm");
  });

  it.each([200, 404, 407, 500])("takes the field for nothing on an answer with %i", (status) => {
    const { server, options } = setUp(true);
    const losses = talkOn(create(options));
    server.call(0).answers(status, "no", ANSWER);
    expect(JSON.stringify(losses)).not.toContain("realm");
  });
});

describe("a server with an event stream", () => {
  it("refuses the stream", async () => {
    for (const relays of [true, false]) {
      const { server, options } = setUp(relays);
      const opening = openEventStreamLink(options);
      server.call(0).answers(401, "no", ANSWER);
      const error = await opening.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "upstream-unauthorized",
        data: { status: 401 },
        challenge: relays ? { status: 401, authenticate: AUTHENTICATE } : undefined,
      });
    }
  });

  it("refuses a message", async () => {
    const { server, options } = setUp(true);
    const opening = openEventStreamLink(options);
    server.call(0).streams("event: endpoint\ndata: /messages\n\n");
    const losses = talkOn(await opening);
    server.call(1).answers(403, "no", ANSWER);
    expect(losses).toMatchObject([{ challenge: { status: 403, authenticate: AUTHENTICATE } }]);
  });

  it("is not taken for one without it when it wants credentials for it", async () => {
    const { server, options } = setUp(true);
    const losses = talkOn(await createLegacyUrlLinks(options).open(() => ({})), "initialize");
    server.call(0).answers(405);
    server.call(1).answers(401, "no", ANSWER);
    await settle();
    expect(losses).toMatchObject([
      { kind: "unauthorized", challenge: { status: 401, authenticate: AUTHENTICATE } },
    ]);
  });
});

it("a refused probe tells how, and nothing about the era", async () => {
  const { server, options } = setUp(true);
  const finding = probeHttp({ ...options, identity: '{"name":"b","version":"1"}' });
  server.call(0).answers(401, "no", ANSWER);
  expect(await finding).toMatchObject({
    type: "unauthorized",
    challenge: { status: 401, authenticate: AUTHENTICATE },
  });
});

it("an error carries a challenge beside its data, also when it is repeated during a pause", () => {
  const challenge = { status: 401, authenticate: AUTHENTICATE } as const;
  const loss = { kind: "unauthorized", status: 401, detail: "no", challenge } as const;
  const error = toBridgeError(loss, "server");
  expect(error).toMatchObject({ code: "upstream-unauthorized", data: { status: 401 }, challenge });
  expect(JSON.stringify([error.message, error.data])).not.toContain("realm");
  expect(isUnprocessed(loss)).toBe(true);
  const pause = createOpenPause(createManualClock(), DEFAULT_LIMITS);
  pause.failed(error);
  const thrown = expect.objectContaining({ challenge, code: "upstream-unauthorized" });
  expect(() => pause.check()).toThrow(thrown);
  expect(() => pause.check()).toThrow(BridgeError);
});
