import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../src/index.js";
import { createLegacyUrlLinks } from "../../src/upstream/legacy-url-links.js";
import type { Link } from "../../src/upstream/link.js";
import { createManualClock, settle } from "../support/manual-clock.js";
import { createFakeServer, createRecorder, createRecordingJournal, requestText } from "./fakes.js";

function setUp() {
  const server = createFakeServer();
  const clock = createManualClock();
  const recorder = createRecorder();
  const links = createLegacyUrlLinks({
    url: "http://server.test/mcp",
    name: "server",
    exchange: server.exchange,
    limits: DEFAULT_LIMITS,
    clock,
    journal: createRecordingJournal(),
  });
  const open = async (): Promise<Link> => {
    const link = await links.open(() => ({}));
    link.start(recorder);
    link.request({ id: 1, method: "initialize", text: requestText(1, "initialize") });
    return link;
  };
  return { server, clock, links, open, log: recorder.log };
}

const ENDPOINT = "event: endpoint\ndata: /messages\n\n";

describe("links to a legacy server behind a URL", () => {
  it("use Streamable HTTP where initialize is answered", async () => {
    const { server, open, log } = setUp();
    const link = await open();
    server.call(0).answers(200, '{"jsonrpc":"2.0","id":1,"result":{}}');
    expect(log).toEqual(["response 1 {} @1"]);
    expect(link.associates).toBe(true);
  });

  it.each([400, 404, 405])("fall back to HTTP+SSE after %i", async (status) => {
    const { server, clock, open, log } = setUp();
    const link = await open();
    server.call(0).answers(status, "Cannot POST /mcp", { "content-type": "text/html" });
    expect(server.call(1).method).toBe("GET");
    server.call(1).streams(ENDPOINT);
    await settle();
    expect(server.call(2)).toMatchObject({ method: "POST", url: "http://server.test/messages" });
    server.call(2).answers(202);
    server.call(1).data('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    expect(log).toEqual(["response 1 {}"]);
    expect(link.associates).toBe(false);
    expect(link.listens).toBe(true);
    await link.close();
    expect(clock.pending).toBe(0);
  });

  it("report the first refusal where there is no event stream either", async () => {
    const { server, open, log } = setUp();
    await open();
    server.call(0).answers(404);
    server.call(1).answers(404);
    await settle();
    expect(log).toEqual(["lost 1 rejected 404: the server answered with HTTP status 404"]);
  });

  it.each([401, 403, 500, 503])("do not fall back after %i", async (status) => {
    const { server, open, log } = setUp();
    await open();
    server.call(0).answers(status);
    await settle();
    expect(server.calls).toHaveLength(1);
    expect(log).toEqual([expect.stringMatching(/^lost 1 (unauthorized|rejected)/)]);
  });

  it("do not fall back when the server refuses initialize itself, or another request", async () => {
    const { server, open, log } = setUp();
    const link = await open();
    server.call(0).answers(400, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m"}}');
    link.request({ id: 2, method: "tools/call", text: requestText(2, "tools/call") });
    server.call(1).answers(405);
    await settle();
    expect(server.calls).toHaveLength(2);
    expect(log).toEqual([
      'error 1 {"code":-32602,"message":"m"} @1',
      "lost 2 rejected 405: the server answered with HTTP status 405",
    ]);
  });

  it("remember HTTP+SSE, and forget it when it no longer opens", async () => {
    const { server, links, open } = setUp();
    await open();
    server.call(0).answers(405);
    server.call(1).streams(ENDPOINT);
    await settle();
    const second = links.open(() => ({}));
    expect(server.call(3).method).toBe("GET");
    server.call(3).answers(404);
    await expect(second).rejects.toMatchObject({ code: "upstream-unavailable" });
    const third = await links.open(() => ({}));
    expect(third.associates).toBe(true);
  });

  it("end while the event stream is being opened", async () => {
    const { server, clock, open, log } = setUp();
    const link = await open();
    server.call(0).answers(405);
    await link.close();
    await settle();
    expect(server.call(1).aborted).toBe(true);
    expect(log).toEqual(["lost 1 not-sent: closed by the bridge", "closed: closed by the bridge"]);
    expect(clock.pending).toBe(0);
  });
});
