import type { JsonText } from "../jsonrpc/json-text.js";
import type { Caller } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { Journal } from "../ports/journal.js";
import { readMirroredTools } from "../translation/mirrored-tools.js";
import { type ListPage, readPages } from "../translation/pagination.js";
import type { ParameterHeader } from "../translation/parameter-headers.js";

/** What an HTTP client must know of the tools it calls, for each principal. */
export interface ToolCatalogue {
  /** Takes a `tools/list` result that passes by; returns it without the tools that must not be called. */
  pass(caller: Caller, result: JsonText): JsonText;
  /** The headers of a tool; reads the whole list first where the tool is not known. Never rejects. */
  headersOf(caller: Caller, tool: string, list: ListPage): Promise<readonly ParameterHeader[]>;
  /** Forgets the principal's tools, because the server says their headers have changed. */
  forget(caller: Caller): void;
}

export interface ToolCatalogueOptions {
  readonly name: string;
  readonly journal: Journal;
  readonly limits: Pick<Limits, "maxPages" | "maxSessions">;
}

interface Shelf {
  readonly tools: Map<string, readonly ParameterHeader[]>;
  /** The whole list has been read: a tool that is not here does not exist. */
  complete: boolean;
  reading: Promise<void> | undefined;
}

/** Each tool that is left out is told once. */
const MAX_WARNINGS = 1_000;

const NONE: readonly ParameterHeader[] = [];

export function createToolCatalogue(options: ToolCatalogueOptions): ToolCatalogue {
  const { name, journal, limits } = options;
  const shelves = new Map<string, Shelf>();
  const warned = new Set<string>();

  const shelfOf = ({ principal }: Caller): Shelf => {
    const known = shelves.get(principal);
    if (known !== undefined) return known;
    if (shelves.size >= limits.maxSessions) {
      const oldest = shelves.keys().next();
      if (!oldest.done) shelves.delete(oldest.value);
    }
    const shelf: Shelf = { tools: new Map(), complete: false, reading: undefined };
    shelves.set(principal, shelf);
    return shelf;
  };

  const take = (shelf: Shelf, result: JsonText): JsonText => {
    const page = readMirroredTools(result);
    for (const [tool, headers] of page.headers) shelf.tools.set(tool, headers);
    for (const { tool, reason } of page.rejected) {
      if (warned.has(tool) || warned.size >= MAX_WARNINGS) continue;
      warned.add(tool);
      journal.warn("tool-left-out", { upstream: name, tool, reason });
    }
    return page.result;
  };

  const read = async (shelf: Shelf, list: ListPage): Promise<void> => {
    const page = (params: JsonText) => list(params).catch(() => undefined);
    const isWhole = await readPages(page, limits.maxPages, (result) => void take(shelf, result));
    if (isWhole) shelf.complete = true;
  };

  return {
    pass: (caller, result) => take(shelfOf(caller), result),
    async headersOf(caller, tool, list) {
      const shelf = shelfOf(caller);
      if (!shelf.tools.has(tool) && !shelf.complete) {
        shelf.reading ??= read(shelf, list).finally(() => {
          shelf.reading = undefined;
        });
        await shelf.reading;
      }
      return shelf.tools.get(tool) ?? NONE;
    },
    forget: ({ principal }) => {
      shelves.delete(principal);
    },
  };
}
