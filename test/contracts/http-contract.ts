import { expect, test } from "vitest";
import type {
  HttpCall,
  HttpExchange,
  HttpFailure,
  HttpHandler,
  HttpHeaders,
  HttpRequest,
  HttpStream,
} from "../../src/index.js";

/** An exchange and where it reaches the handler under test. */
export interface ServedExchange {
  readonly exchange: HttpExchange;
  /** `http://host:port`, without a path. */
  readonly origin: string;
}

export type Serve = (handler: HttpHandler) => Promise<ServedExchange>;

interface RecordedAnswer {
  readonly status: number | undefined;
  readonly headers: HttpHeaders;
  readonly text: string;
  readonly failure: HttpFailure | undefined;
  /** The order of what the sink was told. */
  readonly steps: readonly string[];
}

export interface PendingCall {
  abort(): void;
  /** The whole answer. */
  readonly answer: Promise<RecordedAnswer>;
  /** Resolves when the text so far contains `part`. */
  heard(part: string): Promise<void>;
}

/** Performs a call and keeps what comes. */
export function perform(
  { exchange, origin }: ServedExchange,
  path: string,
  call: Partial<HttpCall> = {},
): PendingCall {
  const decoder = new TextDecoder();
  const steps: string[] = [];
  let status: number | undefined;
  let headers: HttpHeaders = {};
  let text = "";
  let waiting: { part: string; resolve: () => void }[] = [];
  let abort: () => void = () => undefined;
  const answer = new Promise<RecordedAnswer>((resolve) => {
    const finish = (failure: HttpFailure | undefined): void => {
      steps.push(failure === undefined ? "end" : "failed");
      resolve({ status, headers, text, failure, steps });
    };
    const url = origin + path;
    abort = exchange(
      { method: "POST", headers: {}, body: undefined, ...call, url },
      {
        head(code, fields) {
          steps.push("head");
          status = code;
          headers = fields;
        },
        data(chunk) {
          if (steps.at(-1) !== "data") steps.push("data");
          text += decoder.decode(chunk, { stream: true });
          for (const { part, resolve: found } of waiting) if (text.includes(part)) found();
          waiting = waiting.filter(({ part }) => !text.includes(part));
        },
        end: () => finish(undefined),
        failed: finish,
      },
    );
  });
  return {
    abort: () => abort(),
    answer,
    heard(part) {
      if (text.includes(part)) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ part, resolve }));
    },
  };
}

/** What every pair of an exchange and a handler's host promises. */
export function httpContract(name: string, serve: Serve): void {
  test(`${name}: method, path, query, headers and body arrive as they were given`, async () => {
    let seen: HttpRequest | undefined;
    const served = await serve((request, reply) => {
      seen = request;
      reply.send(200, { "content-type": "application/json", "x-multi": "a, b" }, '{"ok":"ü😀"}');
    });
    const answer = await perform(served, "/mcp/x%20y?a=1&b=%C3%BC", {
      headers: { "content-type": "application/json", "mcp-method": "tools/call", accept: "*/*" },
      body: '{"n":1915883588174806058,"t":"ü😀"}',
    }).answer;
    expect(seen).toMatchObject({
      method: "POST",
      path: "/mcp/x%20y",
      query: "a=1&b=%C3%BC",
      body: '{"n":1915883588174806058,"t":"ü😀"}',
      bodyProblem: undefined,
    });
    expect(seen?.headers).toMatchObject({
      "content-type": "application/json",
      "mcp-method": "tools/call",
      accept: "*/*",
    });
    expect(answer).toMatchObject({ status: 200, text: '{"ok":"ü😀"}', failure: undefined });
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "x-multi": "a, b" });
    expect(answer.steps).toEqual(["head", "data", "end"]);
  });

  test(`${name}: GET and DELETE carry no body and see an empty one`, async () => {
    const seen: unknown[] = [];
    const served = await serve((request, reply) => {
      seen.push([request.method, request.query, request.body]);
      reply.send(200, {}, "");
    });
    await perform(served, "/mcp", { method: "GET" }).answer;
    await perform(served, "/mcp", { method: "DELETE" }).answer;
    expect(seen).toEqual([
      ["GET", "", ""],
      ["DELETE", "", ""],
    ]);
  });

  test(`${name}: every status comes back as it is, with and without a body`, async () => {
    const served = await serve((request, reply) => {
      const status = Number(request.query);
      reply.send(status, {}, status === 202 ? "" : `status ${status}`);
    });
    for (const status of [200, 202, 400, 401, 403, 404, 405, 406, 413, 500, 502, 503]) {
      const answer = await perform(served, `/?${status}`, { body: "{}" }).answer;
      expect(answer).toMatchObject({ status, text: status === 202 ? "" : `status ${status}` });
    }
  });

  test(`${name}: what a stream writes arrives at once, before its end`, async () => {
    let stream: HttpStream | undefined;
    const served = await serve((_request, reply) => {
      stream = reply.open(200, { "content-type": "text/event-stream" });
      stream.write("data: 1\n\n");
    });
    const call = perform(served, "/", { body: "{}" });
    await call.heard("data: 1\n\n");
    stream?.write("data: 2\n\n");
    await call.heard("data: 2\n\n");
    stream?.end();
    const answer = await call.answer;
    expect(answer).toMatchObject({ text: "data: 1\n\ndata: 2\n\n", failure: undefined });
    expect(answer.headers["content-type"]).toBe("text/event-stream");
  });

  test(`${name}: the head of a stream arrives before anything is written`, async () => {
    const served = await serve((_request, reply) => {
      reply.open(200, { "content-type": "text/event-stream" });
    });
    const status = await new Promise<number>((resolve) => {
      const abort = served.exchange(
        { method: "GET", url: `${served.origin}/`, headers: {}, body: undefined },
        {
          head(code) {
            resolve(code);
            abort();
          },
          data: () => undefined,
          end: () => undefined,
          failed: () => undefined,
        },
      );
    });
    expect(status).toBe(200);
  });

  test(`${name}: a stream cut by the server is broken, after what came before`, async () => {
    let stream: HttpStream | undefined;
    let noticed: () => void = () => undefined;
    const goneSeen = new Promise<void>((resolve) => {
      noticed = resolve;
    });
    const served = await serve((_request, reply, gone) => {
      gone.addEventListener("abort", () => noticed());
      stream = reply.open(200, {});
      stream.write("half");
    });
    const call = perform(served, "/", { body: "{}" });
    await call.heard("half");
    stream?.destroy();
    const answer = await call.answer;
    await goneSeen;
    expect(answer).toMatchObject({ status: 200, text: "half", failure: { kind: "broken" } });
    expect(answer.steps).toEqual(["head", "data", "failed"]);
  });

  test(`${name}: an abort before the answer fails once as aborted and the server notices`, async () => {
    let noticed: () => void = () => undefined;
    let arrived: () => void = () => undefined;
    const atServer = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const goneSeen = new Promise<void>((resolve) => {
      noticed = resolve;
    });
    let late: (() => void) | undefined;
    const served = await serve((_request, reply, gone) => {
      gone.addEventListener("abort", () => noticed());
      late = () => reply.send(200, {}, "late");
      arrived();
    });
    const call = perform(served, "/", { body: "{}" });
    await atServer;
    call.abort();
    call.abort();
    const answer = await call.answer;
    expect(answer).toMatchObject({ status: undefined, failure: { kind: "aborted" } });
    await goneSeen;
    late?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(answer.steps).toEqual(["failed"]);
  });

  test(`${name}: an abort in the middle of a stream fails it and makes its writes harmless`, async () => {
    let stream: HttpStream | undefined;
    let noticed: () => void = () => undefined;
    const goneSeen = new Promise<void>((resolve) => {
      noticed = resolve;
    });
    const served = await serve((_request, reply, gone) => {
      gone.addEventListener("abort", () => noticed());
      stream = reply.open(200, {});
      stream.write("half");
    });
    const call = perform(served, "/", { body: "{}" });
    await call.heard("half");
    call.abort();
    const answer = await call.answer;
    expect(answer.failure?.kind).toBe("aborted");
    await goneSeen;
    stream?.write("more");
    stream?.end();
    stream?.destroy();
    expect(answer.text).toBe("half");
  });

  test(`${name}: an abort after the end changes nothing`, async () => {
    const served = await serve((_request, reply) => reply.send(200, {}, "done"));
    const call = perform(served, "/", { body: "{}" });
    const answer = await call.answer;
    call.abort();
    expect(answer.steps).toEqual(["head", "data", "end"]);
  });

  test(`${name}: a client that takes the whole answer is not gone`, async () => {
    let aborted = false;
    const served = await serve((_request, reply, gone) => {
      gone.addEventListener("abort", () => {
        aborted = true;
      });
      reply.send(200, {}, "done");
    });
    await perform(served, "/", { body: "{}" }).answer;
    await perform(served, "/", { body: "{}" }).answer;
    expect(aborted).toBe(false);
  });

  test(`${name}: ten megabytes pass in both directions`, async () => {
    const big = `"${"ü".repeat(5 * 1024 * 1024)}"`;
    let received: string | undefined;
    const served = await serve((request, reply) => {
      received = request.body;
      reply.send(200, {}, big);
    });
    const answer = await perform(served, "/", { body: big }).answer;
    expect(received === big).toBe(true);
    expect(answer.text === big).toBe(true);
  });

  test(`${name}: many calls at once get their own answers`, async () => {
    const served = await serve((request, reply) => reply.send(200, {}, request.body ?? ""));
    const bodies = Array.from({ length: 200 }, (_, n) => `{"n":${n}}`);
    const answers = await Promise.all(bodies.map((body) => perform(served, "/", { body }).answer));
    expect(answers.map((answer) => answer.text)).toEqual(bodies);
  });
}
