import { Pool } from "undici";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The whole body. */
  readonly text: string;
  /** The last JSON-RPC message of the body, be it JSON or an event stream. */
  readonly message: string;
}

export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The text of an envelope's members, for bodies that are written by hand. */
export const envelopeText = (capabilities = "{}"): string =>
  `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":${capabilities}`;

/** A modern client that sends bodies as texts and shows answers as texts. */
export interface RawModernClient {
  post(body: string, headers?: Record<string, string>): Promise<RawAnswer>;
  /** A `tools/call` whose params are `name`, `arguments` and the envelope. */
  call(
    id: string,
    name: string,
    args: string,
    headers?: Record<string, string>,
  ): Promise<RawAnswer>;
  close(): Promise<void>;
}

function lastMessage(text: string): string {
  if (!text.includes("data:")) return text;
  const events = text.split(/\r?\n\r?\n/).filter((event) => event.includes("data:"));
  return (events.at(-1) ?? "").replace(/^[\s\S]*?data: ?/, "");
}

export function createRawModernClient(
  url: string,
  options: { readonly connections?: number; readonly capabilities?: string } = {},
): RawModernClient {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: options.connections ?? 16 });
  const post: RawModernClient["post"] = async (body, headers = {}) => {
    const response = await pool.request({
      method: "POST",
      path: pathname,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        ...headers,
      },
      body,
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      message: lastMessage(text),
    };
  };
  return {
    post,
    call: (id, name, args, headers = {}) =>
      post(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${args},"_meta":{${envelopeText(options.capabilities)}}}}`,
        { "mcp-method": "tools/call", "mcp-name": name, ...headers },
      ),
    close: () => pool.close(),
  };
}
