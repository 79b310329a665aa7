import { asString, isArrayText, type JsonText } from "../jsonrpc/json-text.js";
import { memberOf, readObject } from "../jsonrpc/raw-object.js";
import { elementsOf } from "../jsonrpc/skip.js";
import type { Caller } from "../model/caller.js";
import type { Limits } from "../model/limits.js";
import type { FailureCause, Operation } from "../model/operation.js";
import type { Interceptor, Service } from "../model/service.js";
import { type ParameterHeader, parameterHeadersOf } from "../translation/parameter-headers.js";

/**
 * Which parameters of a tool are mirrored into headers, per principal and declared capabilities, since
 * servers show different tools to different clients.
 */
export interface ToolHeaders {
  /** Watches the tool lists that pass through a service. */
  readonly observe: Interceptor;
  /** Undefined while the tool is unknown and the list was not yet seen to its end. */
  declared(toolName: string, caller: Caller): readonly ParameterHeader[] | undefined;
  /** Reads the whole list for itself, once for all who ask; resolves whether or not that worked. */
  learn(caller: Caller): Promise<void>;
}

const NONE: readonly ParameterHeader[] = [];

/** What is known for one kind of caller. */
interface Catalogue {
  tools: Map<string, readonly ParameterHeader[]>;
  complete: boolean;
  /** The listing that is under way and the cursor its next page has. */
  listing: { readonly tools: Map<string, readonly ParameterHeader[]>; next: JsonText } | undefined;
  learning: Promise<void> | undefined;
}

export function createToolHeaders(service: Service, limits: Limits): ToolHeaders {
  const catalogues = new Map<string, Catalogue>();
  // Requests mostly come from whoever sent the last one.
  let last: (Pick<Caller, "principal" | "capabilities"> & { catalogue: Catalogue }) | undefined;

  const catalogueOf = (caller: Caller): Catalogue => {
    const { principal, capabilities } = caller;
    if (last?.principal !== principal || last.capabilities !== capabilities) {
      last = { principal, capabilities, catalogue: findCatalogue(caller) };
    }
    return last.catalogue;
  };

  const findCatalogue = (caller: Caller): Catalogue => {
    const key = `${caller.principal}\n${caller.capabilities}`;
    const known = catalogues.get(key);
    if (known !== undefined) return known;
    if (catalogues.size >= limits.maxSessions) {
      for (const oldest of catalogues.keys()) {
        catalogues.delete(oldest);
        break;
      }
    }
    const catalogue: Catalogue = {
      tools: new Map(),
      complete: false,
      listing: undefined,
      learning: undefined,
    };
    catalogues.set(key, catalogue);
    return catalogue;
  };

  const learn = async (caller: Caller, catalogue: Catalogue): Promise<void> => {
    const signal = new AbortController().signal;
    let cursor: JsonText | undefined;
    for (let page = 0; page < limits.maxPages; page++) {
      const outcome = await service.relay(listOperation(caller, cursor), ignore, signal);
      // A server that was not there has not said that it has no list.
      if (outcome.type === "failed" && isPassing(outcome.cause)) catalogue.learning = undefined;
      if (outcome.type !== "complete") return;
      const next = notePage(catalogue, cursor, outcome.result);
      if (next === undefined || next === cursor) return;
      cursor = next;
    }
  };

  return {
    observe: (next) => ({
      ...next,
      relay: (operation, notices, signal) => {
        const pending = next.relay(operation, notices, signal);
        if (operation.method !== "tools/list") return pending;
        return pending.then((outcome) => {
          if (outcome.type === "complete") {
            const cursor = memberOf(readObject(operation.params), "cursor");
            notePage(catalogueOf(operation.caller), cursor, outcome.result);
          }
          return outcome;
        });
      },
    }),
    declared: (toolName, caller) => {
      const { tools, complete } = catalogueOf(caller);
      return tools.get(toolName) ?? (complete ? NONE : undefined);
    },
    learn: (caller) => {
      const catalogue = catalogueOf(caller);
      catalogue.learning ??= learn(caller, catalogue).catch(ignore);
      return catalogue.learning;
    },
  };
}

function ignore(): void {}

function isPassing(cause: FailureCause): boolean {
  return cause !== "peer" && cause !== "unknown-method" && cause !== "refused";
}

function listOperation(caller: Caller, cursor: JsonText | undefined): Operation {
  return {
    method: "tools/list",
    params: cursor === undefined ? "{}" : `{"cursor":${cursor}}`,
    caller,
    logLevel: undefined,
    wantsProgress: false,
    answers: undefined,
  };
}

/** Takes one page in and returns the cursor of the next. */
function notePage(
  catalogue: Catalogue,
  cursor: JsonText | undefined,
  result: JsonText,
): JsonText | undefined {
  const found = toolsOf(result);
  for (const [name, headers] of found) catalogue.tools.set(name, headers);
  const { listing } = catalogue;
  const follows = cursor === undefined || listing?.next === cursor;
  const next = memberOf(readObject(result), "nextCursor");
  if (!follows) return next;
  const before = cursor === undefined || listing === undefined ? [] : [...listing.tools];
  const tools = new Map([...before, ...found]);
  if (next === undefined) {
    catalogue.tools = tools;
    catalogue.complete = true;
    catalogue.listing = undefined;
  } else catalogue.listing = { tools, next };
  return next;
}

/** The tools of a page that declare headers; a page without the word has none. */
function toolsOf(result: JsonText): ReadonlyMap<string, readonly ParameterHeader[]> {
  const tools = new Map<string, readonly ParameterHeader[]>();
  if (!result.includes("x-mcp-header")) return tools;
  const list = memberOf(readObject(result), "tools");
  if (!isArrayText(list)) return tools;
  for (const element of elementsOf(list)) {
    const tool = readObject(element);
    const name = asString(memberOf(tool, "name"));
    const declared = parameterHeadersOf(memberOf(tool, "inputSchema"));
    if (name === undefined || !declared.valid || declared.headers.length === 0) continue;
    tools.set(name, declared.headers);
  }
  return tools;
}
