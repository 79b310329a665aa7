import type { JsonText } from "../jsonrpc/json-text.js";
import { wrappedTools } from "../translation/lower-result.js";
import { type ListPage, readPages } from "../translation/pagination.js";

/** Which of a session's tools were shown to its client with a wrapped output schema. */
export interface AdvertisedTools {
  /** Takes a modern `tools/list` result on its way to the client. */
  note(result: JsonText): void;
  /** Must results of the tool be wrapped, whatever their value? */
  wraps(tool: string, list: ListPage): Promise<boolean>;
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

  const learn = async (list: ListPage): Promise<void> => {
    if (await readPages(list, options.maxPages, note)) unknown = false;
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
