/** A revision whose official SDK is among the development dependencies. */
export type OlderRevision = "2024-11-05" | "2025-03-26" | "2025-06-18";
export const OLDER_REVISIONS: readonly OlderRevision[] = ["2024-11-05", "2025-03-26", "2025-06-18"];

export type JsonObject = Record<string, unknown>;

/** What a handler knows of the request it answers. */
export interface Call {
  readonly revision: OlderRevision;
  readonly capabilities: JsonObject;
  readonly signal: AbortSignal;
  /** Asks the client in reverse; rejects when the answer has no shape that this revision knows. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  notify(method: string, params: JsonObject): Promise<void>;
  readonly progressToken: unknown;
}

export const since = (revision: OlderRevision, first: OlderRevision): boolean => revision >= first;

export const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] });

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** Every kind of content block that the revision knows. */
export function blocks(revision: OlderRevision): JsonObject {
  return {
    content: [
      { type: "text", text: "plain \u{1F30D}", annotations: { audience: ["user"], priority: 0.5 } },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "resource", resource: { uri: "note:///1", mimeType: "text/plain", text: "one" } },
      ...(since(revision, "2025-03-26")
        ? [{ type: "audio", data: "UklGRg==", mimeType: "audio/wav" }]
        : []),
      ...(since(revision, "2025-06-18")
        ? [{ type: "resource_link", uri: "note:///2", name: "two", title: "Two" }]
        : []),
    ],
    isError: false,
    _meta: { "example.com/kept": { deep: [1, null] } },
  };
}

export const NOTES = ["one", "two", "three", "four", "five"];

/** `resources/read` as the pages of the older revisions have it: -32002 for what is not there. */
export function readNote(uri: string): JsonObject {
  if (uri === "note:///pixel") {
    return { contents: [{ uri, mimeType: "image/png", blob: PIXEL }] };
  }
  const name = NOTES[Number(/^note:\/\/\/(\d+)$/.exec(uri)?.[1]) - 1];
  if (name === undefined) {
    throw Object.assign(new Error("Resource not found"), { code: -32002, data: { uri } });
  }
  return { contents: [{ uri, mimeType: "text/plain", text: name }] };
}

/** One page of a list: `size` items and the cursor of the rest. */
export function page<Item>(
  key: string,
  items: readonly Item[],
  size: number,
  cursor: unknown,
): JsonObject {
  const start = cursor === undefined ? 0 : Number(/^after (\d+)$/.exec(String(cursor))?.[1]);
  if (!Number.isInteger(start)) throw Object.assign(new Error("Unknown cursor"), { code: -32602 });
  const end = start + size;
  return {
    [key]: items.slice(start, end),
    ...(end < items.length ? { nextCursor: `after ${end}` } : {}),
  };
}
