import { asString, type JsonText, quote } from "../jsonrpc/json-text.js";
import { memberAt } from "../jsonrpc/raw-object.js";
import { wrappedTools } from "../translation/lower-result.js";

/** Fetches one page of the server's tools for the session's own use; undefined when it cannot. */
export type ListTools = (params: JsonText) => Promise<JsonText | undefined>;

/** Which of a session's tools were shown to its client with a wrapped output schema. */
export interface AdvertisedTools {
  /** Takes a modern `tools/list` result on its way to the client. */
  note(result: JsonText): void;
  /** Must results of the tool be wrapped, whatever their value? */
  wraps(tool: string, list: ListTools): Promise<boolean>;
}

export interface AdvertisedToolsOptions {
  /** The client may have seen the list through another instance: what it saw must be found out. */
  readonly seenElsewhere: boolean;
  readonly maxPages: number;
}

export function createAdvertisedTools(options: AdvertisedToolsOptions): AdvertisedTools {
  const wrapped = new Set<string>();
  let unknown = options.seenElsewhere;
  let learning: Promise<void> | undefined;

  const note = (result: JsonText): void => {
    if (!result.includes('"outputSchema"') && wrapped.size === 0) return;
    for (const [name, wraps] of wrappedTools(result)) {
      if (wraps) wrapped.add(name);
      else wrapped.delete(name);
    }
  };

  const learn = async (list: ListTools): Promise<void> => {
    const seen = new Set<string>();
    let params = "{}";
    for (let page = 0; page < options.maxPages; page++) {
      const result = await list(params);
      if (result === undefined) return;
      note(result);
      const cursor = asString(memberAt(result, "nextCursor"));
      if (cursor === undefined || seen.has(cursor)) break;
      seen.add(cursor);
      params = `{"cursor":${quote(cursor)}}`;
    }
    unknown = false;
  };

  return {
    note,
    async wraps(tool, list) {
      if (unknown) {
        learning ??= learn(list);
        await learning;
        learning = undefined;
      }
      return wrapped.has(tool);
    },
  };
}
