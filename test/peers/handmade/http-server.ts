import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { RawMessage } from "./legacy-answers.js";

export interface SeenRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: RawMessage | undefined;
}

export interface RawResponse {
  readonly status: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HandmadeHttp {
  readonly url: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

export const json = (body: unknown, status = 200): RawResponse => ({
  status,
  type: "application/json",
  body: JSON.stringify(body),
});

export const events = (...bodies: readonly unknown[]): RawResponse => ({
  status: 200,
  type: "text/event-stream",
  body: bodies.map((body) => `event: message\ndata: ${JSON.stringify(body)}\n\n`).join(""),
});

export const ACCEPTED: RawResponse = { status: 202 };

/** An endpoint on 127.0.0.1 that answers as `answer` says and keeps what it was sent. */
export async function handmadeHttp(
  answer: (request: SeenRequest) => RawResponse,
): Promise<HandmadeHttp> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message: RawMessage | undefined = body === "" ? undefined : JSON.parse(body);
    const one = { method: request.method ?? "", headers: request.headers, message };
    seen.push(one);
    const { status, type, headers, body: text } = answer(one);
    response.writeHead(status, { ...headers, ...(type ? { "content-type": type } : {}) });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
