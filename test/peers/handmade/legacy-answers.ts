export interface RawMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

export const reply = (id: unknown, result: unknown): object => ({ jsonrpc: "2.0", id, result });

export const refusal = (id: unknown, code: number, message: string, data?: unknown): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

export const initializeResult = (revision: string): object => ({
  protocolVersion: revision,
  capabilities: { tools: {} },
  serverInfo: { name: "handmade", version: "1" },
});

/** What any of the servers here answers after the handshake; undefined for a notification. */
export function ordinaryAnswer({ id, method, params }: RawMessage): object | undefined {
  if (id === undefined) return undefined;
  if (method === "ping") return reply(id, {});
  if (method === "tools/list") {
    return reply(id, { tools: [{ name: "echo", inputSchema: { type: "object" } }] });
  }
  if (method === "tools/call") {
    const said = JSON.stringify(params?.["arguments"]);
    return reply(id, { content: [{ type: "text", text: said }] });
  }
  return refusal(id, -32601, "Method not found");
}
