import { describe, expect, test } from "vitest";
import { createEndpoint } from "../../../src/front/http/endpoint.js";
import { createSseFace } from "../../../src/front/http/sse-face.js";
import { DEFAULT_LIMITS, type Limits, toPrincipal } from "../../../src/index.js";
import { createManualClock, settle } from "../../support/manual-clock.js";
import { ask, type RecordedReply } from "../../support/recorded-reply.js";
import { complete, createScriptedService } from "../../support/scripted-service.js";
import { advertise, createRecordedJournal, legacyDeps } from "../legacy-talk.js";

function startFace(changed: Partial<Limits> = {}) {
  const scripted = createScriptedService();
  const clock = createManualClock();
  const journal = createRecordedJournal();
  const limits = { ...DEFAULT_LIMITS, ...changed };
  const face = createSseFace(legacyDeps(scripted, clock, journal, limits));
  const endpoint = createEndpoint({
    service: scripted.service,
    ports: { clock, journal },
    limits,
    authenticator: (headers) => ({
      type: "accepted",
      principal: toPrincipal(headers["x-user"] ?? "local"),
      anonymous: false,
    }),
    forwardUnknown: true,
    frontEra: "legacy",
    legacy: face.handle,
    allowedHosts: [],
    allowedOrigins: [],
  });
  const open = (user = "local"): RecordedReply =>
    ask(endpoint.handle, {
      method: "GET",
      path: "/base/sse",
      headers: { host: "localhost", "x-user": user },
    });
  const post = (query: string, message: object, user = "local"): RecordedReply =>
    ask(endpoint.handle, {
      path: "/base/messages",
      query,
      headers: { host: "localhost", "x-user": user, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  return { ...scripted, clock, journal, face, open, post };
}

const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2024-11-05", capabilities: {} },
};

/** The events of a stream as `name data`. */
function eventsOf(stream: RecordedReply): string[] {
  return stream.body
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => block.replace(/^event: (\S+)\ndata: /, "$1 "));
}

describe("HTTP with SSE", () => {
  test("tells where to post and answers on the stream", async () => {
    const talk = startFace();
    const stream = talk.open();
    expect(eventsOf(stream)).toEqual(["endpoint /base/messages?sessionId=t1"]);
    const posted = talk.post("sessionId=t1", INITIALIZE);
    expect(posted.status).toBe(202);
    talk.describes[0]?.settle(advertise());
    await settle();
    talk.post("sessionId=t1", { method: "notifications/initialized" });
    talk.post("sessionId=t1", { id: 1, method: "tools/list" });
    talk.calls[0]?.settle(complete('{"resultType":"complete","tools":[]}'));
    await settle();
    expect(eventsOf(stream).slice(2)).toEqual([
      'message {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}',
    ]);
  });

  test("knows the session by its id and its principal", () => {
    const talk = startFace();
    talk.open("a");
    expect(talk.post("", INITIALIZE, "a").status).toBe(400);
    expect(talk.post("sessionId=t9", INITIALIZE, "a").status).toBe(404);
    expect(talk.post("sessionId=%", INITIALIZE, "a").status).toBe(400);
    expect(talk.post("sessionId=t1", INITIALIZE, "b").status).toBe(404);
    expect(talk.post("x=1&sessionId=t1", INITIALIZE, "a").status).toBe(202);
  });

  test("ends with its stream, which cancels what is under way", async () => {
    const talk = startFace();
    const stream = talk.open();
    talk.post("sessionId=t1", INITIALIZE);
    talk.describes[0]?.settle(advertise());
    await settle();
    talk.post("sessionId=t1", { id: 1, method: "tools/list" });
    stream.leave();
    await talk.clock.pass(0);
    expect(talk.calls[0]?.signal.aborted).toBe(true);
    expect(talk.face.sessions).toBe(0);
    expect(talk.post("sessionId=t1", { id: 2, method: "tools/list" }).status).toBe(404);
    expect(talk.clock.pending).toBe(0);
  });

  test("has no more sessions than it may", () => {
    const talk = startFace({ maxFrontSessions: 1 });
    talk.open();
    expect(talk.open().status).toBe(503);
  });

  test("ends as a whole", async () => {
    const talk = startFace();
    const stream = talk.open();
    talk.face.close();
    await talk.clock.pass(0);
    expect(stream.ended).toBe(true);
    expect(talk.open().status).toBe(503);
    expect(talk.clock.pending).toBe(0);
  });
});
